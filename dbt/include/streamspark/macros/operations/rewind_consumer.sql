{#-
  dbt run-operation rewind_consumer --args '{model: order_log, to: 3}'

  Lets the next run read again what came after consumption 3 of consumer_history. The rows in the target stay.
-#}
{% macro rewind_consumer(model, to, format='text') -%}
  {%- do operate('rewind_consumer', {'name': model, 'to': to}, format) -%}
{%- endmacro %}
