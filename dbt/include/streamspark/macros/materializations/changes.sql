{#
  The changes of an ordinary SELECT: each run appends what changed since the run before, with metadata columns, in one
  commit with the offset. When no base table has changed it writes nothing.

  Config: format, initial_rows, mode, metadata_columns, enable_tracking, max_data_extension_days
  (docs/reference/changes.md); on_schema_change, partition_by and the like as for an incremental model.
#}
{% materialization changes, adapter='streamspark', supported_languages=['sql'] -%}
  {%- do adapter.begin_build(model) -%}
  {%- set existing = load_relation(this) -%}
  {%- set target = this.incorporate(type='table') -%}
  {%- if config.get('file_format') != 'delta' -%}
    {%- do exceptions.raise_compiler_error("materialized='changes' needs file_format 'delta', not '" ~ config.get('file_format') ~ "'.") -%}
  {%- endif -%}

  {{ run_hooks(pre_hooks) }}

  {%- set is_table = existing is not none and existing.type == 'table' -%}
  {%- set plan = adapter.plan_changes(model, target, compiled_code, is_table, should_full_refresh(), reads_are_narrowed()) -%}
  {%- if plan.anew -%}
    {%- do drop_unless_replaceable(existing) -%}
    {%- do run_main([create_table_as(False, target, plan.sql)]) -%}
  {%- else -%}
    {%- do append_changes(target, plan.sql) -%}
  {%- endif -%}

  {%- do apply_grants(target, config.get('grants'), should_revoke(existing, should_full_refresh())) -%}
  {%- do persist_docs(target, model) -%}
  {%- do persist_constraints(target, model) -%}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target]}) }}
{%- endmaterialization %}


{% macro append_changes(target, code) -%}
  {%- set rows = temp_view(target, code) -%}
  {%- set columns = changed_schema('append', rows.relation, target) or adapter.get_columns_in_relation(target) -%}
  {%- if adapter.consumption_of(model).is_empty -%}
    {%- do store_result('main', adapter.skip_consumption(model)) -%}
  {%- else -%}
    {%- set sql = get_incremental_append_sql({'target_relation': target, 'temp_relation': rows.relation, 'dest_columns': columns}) -%}
    {%- do run_main([rows.sql, sql]) -%}
  {%- endif -%}
  {%- do adapter.drop_temp_view(rows.relation.identifier) -%}
{%- endmacro %}
