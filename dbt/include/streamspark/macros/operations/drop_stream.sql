{#-
  dbt run-operation drop_stream --args '{stream: orders_stream}'

  Takes a stream out of the catalog; `force: true` where something has read it.
-#}
{% macro drop_stream(stream, force=false, format='text') -%}
  {%- do operate('drop_stream', {'name': stream, 'force': force}, format) -%}
{%- endmacro %}
