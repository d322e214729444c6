{#-
  dbt run-operation explain_changes --args '{model: orders_stream}'
  dbt run-operation explain_changes --args '{query: select count(*) from db.orders, start: 3, end: 7}'

  How changes would be computed: the rule of each operator, what is read of each base table, and what has no rule. `kind`:
  min_delta, append_only or redo_log, for a query.
-#}
{% macro explain_changes(model=none, query=none, start=none, end=none, kind='min_delta', format='text') -%}
  {%- set arguments = {'name': model, 'query': query, 'start': start, 'end': end, 'kind': kind} -%}
  {%- do operate('explain_changes', arguments, format) -%}
{%- endmacro %}
