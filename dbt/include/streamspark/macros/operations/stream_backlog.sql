{#-
  dbt run-operation stream_backlog --args '{stream: orders_stream}'

  The commits of the base tables that the slowest consumer, or `consumer`, has not read yet.
-#}
{% macro stream_backlog(stream, consumer=none, format='text') -%}
  {%- do operate('stream_backlog', {'name': stream, 'consumer': consumer}, format) -%}
{%- endmacro %}
