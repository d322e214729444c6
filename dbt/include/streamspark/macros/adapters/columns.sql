{# Columns of an existing relation. `render()`: under `--empty` a relation prints as a subquery, which has no columns to alter. #}

{% macro streamspark__get_columns_in_relation_raw(relation) -%}
  {%- call statement('get_columns_in_relation_raw', fetch_result=True) -%}
    describe extended {{ relation.render() }}
  {%- endcall -%}
  {% do return(load_result('get_columns_in_relation_raw').table) %}
{%- endmacro %}

{% macro streamspark__alter_relation_add_remove_columns(relation, add_columns, remove_columns) -%}
  {%- if add_columns -%}
    {%- set added = [] -%}
    {%- for column in add_columns %}{% do added.append(column.quoted ~ ' ' ~ column.data_type) %}{% endfor -%}
    {%- do run_query('alter table ' ~ relation.render() ~ ' add columns (' ~ added | join(', ') ~ ')') -%}
  {%- endif -%}
  {%- if remove_columns -%}
    {%- set removed = remove_columns | map(attribute='quoted') | join(', ') -%}
    {#- Delta drops a column by forgetting its name, so names must not be the ones in the files. -#}
    {%- do run_query(
        "alter table " ~ relation.render() ~ " set tblproperties ('delta.columnMapping.mode' = 'name')"
    ) -%}
    {%- do run_query('alter table ' ~ relation.render() ~ ' drop columns (' ~ removed ~ ')') -%}
  {%- endif -%}
{%- endmacro %}

{% macro streamspark__alter_column_type(relation, column_name, new_column_type) -%}
  {#- Files keep the narrower type and are read as the wider one; Delta refuses what does not widen. -#}
  {%- do run_query(
      "alter table " ~ relation.render() ~ " set tblproperties ('delta.enableTypeWidening' = 'true')"
  ) -%}
  {%- do run_query(
      'alter table ' ~ relation.render() ~ ' alter column ' ~ adapter.quote(column_name) ~ ' type ' ~ new_column_type
  ) -%}
{%- endmacro %}
