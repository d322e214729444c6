{#
  A table, made anew in one commit. One that reads streams holds the changes of its latest run, and none when there
  were none: it is written all the same.
#}
{% materialization table, adapter='streamspark', supported_languages=['sql'] -%}
  {%- do adapter.begin_build(model) -%}
  {%- set existing = load_relation(this) -%}
  {%- set target = this.incorporate(type='table') -%}

  {{ run_hooks(pre_hooks) }}

  {%- do drop_unless_replaceable(existing) -%}
  {%- do run_main([create_table_as(False, target, compiled_code)]) -%}

  {%- do apply_grants(target, config.get('grants'), should_revoke(existing, full_refresh_mode=True)) -%}
  {%- do persist_docs(target, model) -%}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target]}) }}
{%- endmaterialization %}


{#- `create or replace table` replaces a table of the same kind; anything else goes first. -#}
{% macro drop_unless_replaceable(existing) -%}
  {%- set format = config.get('file_format') -%}
  {%- if existing is not none -%}
    {%- set same = (format == 'delta' and existing.is_delta) or (format == 'iceberg' and existing.is_iceberg) -%}
    {%- if existing.type != 'table' or not same -%}
      {%- do adapter.drop_relation(existing) -%}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}
