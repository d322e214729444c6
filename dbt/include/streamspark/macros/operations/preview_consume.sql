{#-
  dbt run-operation preview_consume --args '{model: dim_orders}'

  The rows that the model's next run would insert, update and delete. Nothing is written.
-#}
{% macro preview_consume(model, format='text') -%}
  {%- do operate('preview_consume', {'name': model}, format) -%}
{%- endmacro %}
