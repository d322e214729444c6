{#
  An incremental table. A model that reads streams commits their offsets with its rows, in one commit; when the streams
  have nothing new it writes nothing.

  Strategies: append (default), merge, insert_overwrite, replace_where, apply_changes, differential (differential.sql),
  microbatch (not for streams), and any macro get_incremental_<name>_sql of the project.
#}
{% materialization incremental, adapter='streamspark', supported_languages=['sql'] -%}
  {%- do adapter.begin_build(model) -%}
  {%- set strategy = incremental_strategy() -%}
  {%- set existing = load_relation(this) -%}
  {%- set target = this.incorporate(type='table') -%}

  {{ run_hooks(pre_hooks) }}

  {%- if strategy == 'differential' -%}
    {%- do build_differential(existing, target) -%}
  {%- elif existing is none or existing.type != 'table' or should_full_refresh() or adapter.started_over(model) == 'full_refresh' -%}
    {%- do build_anew(strategy, existing, target) -%}
  {%- else -%}
    {%- do build_increment(strategy, existing, target) -%}
  {%- endif -%}
  {%- do adapter.restore_confs() -%}

  {%- do apply_grants(target, config.get('grants'), should_revoke(existing, should_full_refresh())) -%}
  {%- do persist_docs(target, model) -%}
  {%- do persist_constraints(target, model) -%}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target]}) }}
{%- endmaterialization %}


{#- The first run, and --full-refresh. -#}
{% macro build_anew(strategy, existing, target) -%}
  {%- do drop_unless_replaceable(existing) -%}
  {%- for line in adapter.left_out(model) -%}
    {%- do exceptions.warn(line) -%}
  {%- endfor -%}
  {%- if strategy == 'apply_changes' -%}
    {%- set rows = temp_view(target, compiled_code) -%}
    {%- set changes = adapter.apply_changes(model, rows.relation.render()) -%}
    {%- do run_main([rows.sql, create_table_as(False, target, changes.upserts())]) -%}
    {%- do adapter.drop_temp_view(rows.relation.identifier) -%}
  {%- else -%}
    {%- do run_main([create_table_as(False, target, compiled_code)]) -%}
  {%- endif -%}
{%- endmacro %}


{#- Every later run. -#}
{% macro build_increment(strategy, existing, target) -%}
  {%- for line in adapter.check_begins(model, strategy) -%}
    {%- do exceptions.warn(line) -%}
  {%- endfor -%}
  {%- set consumption = adapter.consumption_of(model) -%}
  {%- set strategy_macro = adapter.get_incremental_strategy_macro(context, strategy) -%}
  {%- set rows = temp_view(target, compiled_code) -%}
  {%- set columns = changed_schema(strategy, rows.relation, target) or adapter.get_columns_in_relation(target) -%}
  {%- if consumption is not none and consumption.is_empty -%}
    {%- do store_result('main', adapter.skip_consumption(model)) -%}
  {%- else -%}
    {%- set sql = strategy_macro({
        'target_relation': target,
        'temp_relation': rows.relation,
        'unique_key': config.get('unique_key'),
        'dest_columns': columns,
        'incremental_predicates': config.get('predicates') or config.get('incremental_predicates'),
    }) -%}
    {%- do run_main([rows.sql, sql]) -%}
  {%- endif -%}
  {%- do adapter.drop_temp_view(rows.relation.identifier) -%}
{%- endmacro %}


{#- The model's rows as a temporary view of this thread's session: its relation, and the SQL that makes it. -#}
{% macro planned_view(target, code) -%}
  {%- set relation = make_temp_relation(target, '__dbt_tmp') -%}
  {{ return({'relation': relation, 'sql': create_table_as(True, relation, code)}) }}
{%- endmacro %}


{#- The same, made. -#}
{% macro temp_view(target, code) -%}
  {%- set view = planned_view(target, code) -%}
  {%- call statement('create_tmp_relation') -%}{{ view.sql }}{%- endcall -%}
  {{ return(view) }}
{%- endmacro %}


{#- on_schema_change; apply_changes leaves out the metadata columns of a stream, and adds columns of its own. -#}
{% macro changed_schema(strategy, rows, target) -%}
  {%- set on_schema_change = incremental_validate_on_schema_change(config.get('on_schema_change'), default='ignore') -%}
  {%- if strategy != 'apply_changes' or on_schema_change == 'ignore' -%}
    {{ return(process_schema_changes(on_schema_change, rows, target)) }}
  {%- endif -%}
  {%- set data = make_temp_relation(target, '__dbt_data') -%}
  {%- call statement('create_data_relation') -%}
    {{ create_table_as(True, data, adapter.apply_changes(model, rows.render()).upserts()) }}
  {%- endcall -%}
  {%- set columns = process_schema_changes(on_schema_change, data, target) -%}
  {%- do adapter.drop_temp_view(data.identifier) -%}
  {{ return(columns) }}
{%- endmacro %}
