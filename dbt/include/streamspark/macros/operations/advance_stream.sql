{#-
  dbt run-operation advance_stream --args '{stream: orders_stream, consumer: dim_orders}'

  Leaves out what the consumer has not read yet: its offset goes to now and no row is written. `consumer: all` for all.
-#}
{% macro advance_stream(stream, consumer=none, format='text') -%}
  {%- do operate('advance_stream', {'name': stream, 'consumer': consumer}, format) -%}
{%- endmacro %}
