{#
  dbt's merge: matched rows are updated, others inserted. Keys are compared null-safe. Config merge_update_columns or
  merge_exclude_columns limit what is updated; incremental_predicates say DBT_INTERNAL_DEST and DBT_INTERNAL_SOURCE.
#}
{% macro streamspark__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates=none) -%}
  {%- set columns = dest_columns or adapter.get_columns_in_relation(target) -%}
  {%- set on = merge_keys(unique_key, columns) + whole_predicates(incremental_predicates, 'incremental_predicates') -%}
  {%- set updated = merge_updates(columns) -%}
  merge into {{ target }} as DBT_INTERNAL_DEST
  using {{ source }} as DBT_INTERNAL_SOURCE
  on {{ on | join(' and ') }}
  {%- if unique_key and updated %}
  when matched then update set
    {%- for name in updated %}
    {{ name }} = DBT_INTERNAL_SOURCE.{{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
  {%- endif %}
  when not matched then insert ({{ column_list(columns) }})
    values (
      {%- for column in columns -%}
        DBT_INTERNAL_SOURCE.{{ quoted_column(column.name) }}{{ ', ' if not loop.last }}
      {%- endfor -%}
    )
{%- endmacro %}


{#- The conditions under which two rows are the same row; none ever is without a unique_key. -#}
{% macro merge_keys(unique_key, columns) -%}
  {%- set known = columns | map(attribute='name') | map('lower') | list -%}
  {%- set conditions = [] -%}
  {%- for key in ([] if not unique_key else [unique_key] if unique_key is string else unique_key) -%}
    {%- if key | lower not in known and modules.re.match('\\w+$', key) -%}
      {%- do exceptions.raise_compiler_error(
          "unique_key '" ~ key ~ "' is no column of " ~ this ~ ", which has " ~ known | join(', ') ~ "."
      ) -%}
    {%- endif -%}
    {%- set name = quoted_column(key) if key | lower in known else key -%}
    {%- do conditions.append('DBT_INTERNAL_SOURCE.' ~ name ~ ' <=> DBT_INTERNAL_DEST.' ~ name) -%}
  {%- endfor -%}
  {{ return(conditions or ['false']) }}
{%- endmacro %}


{#- What a config says, one text or several, as conditions that stay what they are beside others. -#}
{% macro whole_predicates(given, key) -%}
  {%- set whole = [] -%}
  {%- for text in ([given] if given is string else given or []) -%}
    {%- do whole.append(adapter.predicate(text, key)) -%}
  {%- endfor -%}
  {{ return(whole) }}
{%- endmacro %}


{#- The quoted names of the columns that a matched row takes over. -#}
{% macro merge_updates(columns) -%}
  {%- set only = config.get('merge_update_columns') -%}
  {%- set but = config.get('merge_exclude_columns') -%}
  {%- if only and but -%}
    {%- do exceptions.raise_compiler_error(
        'Model cannot specify merge_update_columns and merge_exclude_columns. Please update model to use only one config'
    ) -%}
  {%- endif -%}
  {%- set only = [only] if only is string else only -%}
  {%- set but = ([but] if but is string else but or []) | map('lower') | list -%}
  {%- set names = [] -%}
  {%- for name in only or columns | map(attribute='name') -%}
    {%- if name | lower not in but -%}
      {%- do names.append(name if modules.re.match('`(``|[^`])*`$', name) else quoted_column(name)) -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(names) }}
{%- endmacro %}
