{#-
  dbt run-operation show_streams

  The streams in the project's schemas, or in `schema` alone: mode, base tables, offset, consumers, when they go stale.
-#}
{% macro show_streams(schema=none, format='text') -%}
  {%- do operate('show_streams', {}, format, schema) -%}
{%- endmacro %}
