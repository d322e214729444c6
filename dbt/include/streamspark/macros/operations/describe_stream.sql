{#-
  dbt run-operation describe_stream --args '{stream: orders_stream}'

  All that is known of a stream: its definition, base tables, offset, and each consumer's own.
-#}
{% macro describe_stream(stream, format='text') -%}
  {%- do operate('describe_stream', {'name': stream}, format) -%}
{%- endmacro %}
