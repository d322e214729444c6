{#- The model's incremental strategy, checked before anything runs. -#}
{% macro incremental_strategy() -%}
  {%- set strategy = config.get('incremental_strategy') or 'append' -%}
  {%- set format = dbt_spark_validate_get_file_format(config.get('file_format')) -%}
  {%- set needs = {'merge': ['delta', 'iceberg', 'hudi'], 'apply_changes': ['delta'], 'differential': ['delta'], 'replace_where': ['delta']} -%}
  {%- if strategy == 'default' -%}
    {%- set strategy = 'append' -%}
  {%- endif -%}
  {%- if strategy == 'delete+insert' -%}
    {%- do exceptions.raise_compiler_error(
        "incremental_strategy='delete+insert' takes two commits, between which readers see rows missing. "
        "Use merge, replace_where or insert_overwrite."
    ) -%}
  {%- endif -%}
  {%- if strategy in needs and format not in needs[strategy] -%}
    {%- do exceptions.raise_compiler_error(
        "incremental_strategy='" ~ strategy ~ "' needs file_format " ~ needs[strategy] | join(' or ') ~ ", not '" ~ format ~ "'."
    ) -%}
  {%- endif -%}
  {%- if strategy == 'microbatch' and not config.get('partition_by') -%}
    {%- do exceptions.raise_compiler_error(
        "incremental_strategy='microbatch' needs a partition_by of the grain " ~ config.get('batch_size') ~ "."
    ) -%}
  {%- endif -%}
  {%- if strategy == 'replace_where' and not config.get('replace_where') -%}
    {%- do exceptions.raise_compiler_error(
        "incremental_strategy='replace_where' needs the config replace_where: a predicate on the rows to be replaced, such as "
        "replace_where=\"day >= date'2026-01-01'\"."
    ) -%}
  {%- endif -%}
  {%- if strategy == 'apply_changes' -%}
    {%- do adapter.check_apply_changes(model) -%}
  {%- endif -%}
  {%- if strategy != 'differential' -%}
    {%- do adapter.get_incremental_strategy_macro(context, strategy) -%}
  {%- endif -%}
  {{ return(strategy) }}
{%- endmacro %}
