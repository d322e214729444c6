{#
  A target kept equal to an ordinary SELECT: each run applies what changed in the query's result since the run before, or
  makes the target anew where that costs less, and commits the offset with the rows.

  Config: unique_key, refresh, immutable_where, enable_tracking, max_data_extension_days
  (docs/reference/strategies.md).
#}
{% macro build_differential(existing, target) -%}
  {%- set is_table = existing is not none and existing.type == 'table' -%}
  {%- set plan = adapter.plan_differential(model, target, compiled_code, is_table, should_full_refresh(), reads_are_narrowed()) -%}
  {%- if plan.anew -%}
    {%- do drop_unless_replaceable(existing) -%}
    {%- do run_main([create_table_as(False, target, plan.sql)]) -%}
  {%- elif adapter.consumption_of(model).is_empty -%}
    {%- do store_result('main', adapter.skip_consumption(model)) -%}
  {%- else -%}
    {%- do merge_differential(target, plan) -%}
  {%- endif -%}
{%- endmacro %}


{#- The view is made by the commit, which makes it again where another run came first: the MERGE names no interval. -#}
{% macro merge_differential(target, plan) -%}
  {%- set rows = planned_view(target, plan.sql) -%}
  {%- do run_main([rows.sql, adapter.merge_differential(model, plan, rows.relation.render(), target.render())]) -%}
  {%- do adapter.drop_temp_view(rows.relation.identifier) -%}
{%- endmacro %}
