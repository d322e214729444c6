{#-
  dbt run-operation vacuum_sources
  dbt run-operation vacuum_sources --args '{stream: orders_stream, dry_run: true}'

  VACUUM the base tables of streams, without the files that any consumer in the catalog still needs.
-#}
{% macro vacuum_sources(stream=none, dry_run=false, format='text') -%}
  {%- do operate('vacuum_sources', {'name': stream, 'dry_run': dry_run}, format) -%}
{%- endmacro %}
