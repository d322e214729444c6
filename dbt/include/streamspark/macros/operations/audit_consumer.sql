{#-
  dbt run-operation audit_consumer --args '{model: orders_by_region}'

  Compares a target with its query at its offset, row by row, both ways, and fails where they differ. `query`: what another
  model than a changes or differential one is to hold. `format: json` prints JSON.
-#}
{% macro audit_consumer(model, query=none, format='text') -%}
  {%- set found = adapter.audit(ref(model), query) -%}
  {%- do print(found.to_json() if format == 'json' else found) -%}
  {%- if not found.is_equal -%}
    {%- do exceptions.raise_compiler_error(found | string) -%}
  {%- endif -%}
{%- endmacro %}
