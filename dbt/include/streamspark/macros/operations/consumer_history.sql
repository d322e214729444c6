{#-
  dbt run-operation consumer_history --args '{model: dim_orders, limit: 50}'

  What was consumed into the model's table, newest first.
-#}
{% macro consumer_history(model, limit=20, format='text') -%}
  {%- do operate('consumer_history', {'name': model, 'limit': limit}, format) -%}
{%- endmacro %}
