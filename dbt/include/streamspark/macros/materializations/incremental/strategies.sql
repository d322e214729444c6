{#
  One statement, hence one commit, per strategy. `arg_dict` is dbt's: target_relation, temp_relation (the model's rows),
  unique_key, dest_columns, incremental_predicates.
#}

{% macro streamspark__get_incremental_append_sql(arg_dict) -%}
  {%- set columns = column_list(arg_dict.dest_columns) -%}
  insert into {{ arg_dict.target_relation }} ({{ columns }})
  select {{ columns }} from {{ arg_dict.temp_relation }}
{%- endmacro %}


{% macro streamspark__get_incremental_merge_sql(arg_dict) -%}
  {{ get_merge_sql(
      arg_dict.target_relation, arg_dict.temp_relation, arg_dict.unique_key, arg_dict.dest_columns, arg_dict.incremental_predicates
  ) }}
{%- endmacro %}


{#-
  The partitions that the rows belong to are replaced; without partition_by, the whole table. For Delta the mode is an
  option of the statement: under Spark's conf, Delta 4.4 optimizes the query twice, and filters on row ids then read
  another field of the file's metadata. The target is named by its path: the option is lost where the rows come from a
  table of the target's own name (decision 0029).
-#}
{% macro streamspark__get_incremental_insert_overwrite_sql(arg_dict) -%}
  {%- if config.get('file_format') == 'delta' -%}
  insert overwrite {{ adapter.by_path(arg_dict.target_relation.render()) }}
  {%- if config.get('partition_by') %} with ('partitionOverwriteMode' = 'dynamic'){% endif %} ({{ column_list(arg_dict.dest_columns) }})
  select {{ column_list(arg_dict.dest_columns) }} from {{ arg_dict.temp_relation }}
  {%- else -%}
  {%- if config.get('partition_by') -%}
    {%- do adapter.set_conf('spark.sql.sources.partitionOverwriteMode', 'DYNAMIC') -%}
  {%- endif -%}
  {{ get_insert_overwrite_sql(arg_dict.temp_relation, arg_dict.target_relation, load_relation(this)) }}
  {%- endif -%}
{%- endmacro %}


{% macro streamspark__get_incremental_microbatch_sql(arg_dict) -%}
  {{ streamspark__get_incremental_insert_overwrite_sql(arg_dict) }}
{%- endmacro %}


{#- The rows that the predicate selects are replaced by the model's rows, which must satisfy it too. -#}
{% macro get_incremental_replace_where_sql(arg_dict) -%}
  insert into {{ arg_dict.target_relation }} by name
  replace where {{ whole_predicates(config.get('replace_where'), 'replace_where') | join(' and ') }}
  select {{ column_list(arg_dict.dest_columns) }} from {{ arg_dict.temp_relation }}
{%- endmacro %}


{#- The target is kept equal to what the change rows describe: see consume/changes_applied.py. -#}
{% macro get_incremental_apply_changes_sql(arg_dict) -%}
  {%- set changes = adapter.apply_changes(model, arg_dict.temp_relation.render()) -%}
  {%- if adapter.started_over(model) == 'rebase' -%}
    {{ changes.rebase(arg_dict.target_relation.render(), adapter.columns_of(arg_dict.target_relation.render())) }}
  {%- else -%}
    {{ adapter.merge_changes(model, changes, arg_dict.temp_relation.render(), arg_dict.target_relation.render()) }}
  {%- endif -%}
{%- endmacro %}


{% macro column_list(columns) -%}
  {%- for column in columns -%}
    {{ quoted_column(column.name) }}{{ ', ' if not loop.last }}
  {%- endfor -%}
{%- endmacro %}


{% macro quoted_column(name) -%}
  {{ '`' ~ name | replace('`', '``') ~ '`' }}
{%- endmacro %}
