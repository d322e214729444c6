{#
  Models and seeds that are made again keep what streams on them need: the log, row tracking, and retention. A changes
  model has row tracking from the start, by which its rows tell their run; differential ones and those of apply_changes
  have deletion vectors, so that no file is rewritten for a few rows. A model's own tblproperties win.
#}
{% macro streamspark__tblproperties_clause() -%}
  {%- set properties = {} -%}
  {%- if config.get('materialized') == 'changes' -%}
    {%- do properties.update({'delta.enableRowTracking': 'true'}) -%}
  {%- elif config.get('incremental_strategy') in ('differential', 'apply_changes') -%}
    {%- do properties.update({'delta.enableDeletionVectors': 'true'}) -%}
  {%- endif -%}
  {%- do properties.update(adapter.kept_properties(this.render())) -%}
  {%- for name, test in checks_of_contract().items() -%}
    {%- do properties.update({'delta.constraints.' ~ name: test}) -%}
  {%- endfor -%}
  {%- do properties.update(config.get('tblproperties') or {}) -%}
  {%- if properties %}
    tblproperties (
      {%- for key, value in properties.items() -%}
        {{ adapter.literal(key) }} = {{ adapter.literal(value | string | lower if value is boolean else value | string) }}
        {{- ', ' if not loop.last }}
      {%- endfor -%}
    )
  {%- endif %}
{%- endmacro %}


{% macro streamspark__reset_csv_table(model, full_refresh, old_relation, agate_table) -%}
  {%- do drop_unless_replaceable(old_relation) -%}
  {{ return(create_csv_table(model, agate_table)) }}
{%- endmacro %}


{% macro streamspark__create_csv_table(model, agate_table) -%}
  {%- set types = model.config.get('column_types', {}) -%}
  {%- set quote = model.config.get('quote_columns') -%}
  {%- set columns = [] -%}
  {%- for name in agate_table.column_names -%}
    {%- set type = types.get(name, adapter.convert_type(agate_table, loop.index0)) -%}
    {%- do columns.append(adapter.quote_seed_column(name | string, quote) ~ ' ' ~ type) -%}
  {%- endfor -%}
  {%- set sql -%}
    create {{ 'or replace ' if config.get('file_format') == 'delta' }}table {{ this.render() }} ({{ columns | join(', ') }})
    {{ file_format_clause() }}
    {{ tblproperties_clause() }}
    {{ partition_cols(label='partitioned by') }}
    {{ clustered_cols(label='clustered by') }}
    {{ location_clause() }}
    {{ comment_clause() }}
  {%- endset -%}
  {%- call statement('_') -%}{{ sql }}{%- endcall -%}
  {{ return(sql) }}
{%- endmacro %}
