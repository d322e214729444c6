{#-
  dbt run-operation audit_consumer --args '{model: orders_by_region}'

  Compares a target with its query at its offset, row by row, both ways, and fails where they differ. `query`: what another
  model than a changes or differential one is to hold.
-#}
{% macro audit_consumer(model, query=none, format='text') -%}
  {%- do operate('audit_consumer', {'name': model, 'query': query}, format) -%}
{%- endmacro %}
