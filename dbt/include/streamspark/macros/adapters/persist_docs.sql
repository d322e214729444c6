{#
  Comments on a table and its columns: only those that are not there yet, all columns in one statement, since each
  statement is a commit of its own in the table's log.
#}
{% macro streamspark__persist_docs(relation, model, for_relation, for_columns) -%}
  {%- set of_table = for_relation and config.persist_relation_docs() and model.description -%}
  {%- set of_columns = for_columns and config.persist_column_docs() and model.columns -%}
  {%- if relation.type in ('view', 'stream') or not (of_table or of_columns) -%}
    {{ return('') }}  {#- views are made with their comments -#}
  {%- endif -%}
  {%- set comments = adapter.comments_of(relation.render()) -%}
  {%- if of_table and model.description != comments.table -%}
    {%- do run_query('comment on table ' ~ relation.render() ~ ' is ' ~ adapter.literal(model.description)) -%}
  {%- endif -%}
  {%- if of_columns -%}
    {%- set described = validate_doc_columns(relation, model.columns, comments.columns.keys() | list) -%}
    {%- do alter_column_comment(relation, described) -%}
  {%- endif -%}
{%- endmacro %}


{% macro streamspark__alter_column_comment(relation, column_dict) -%}
  {%- if config.get('file_format') not in ('delta', 'hudi', 'iceberg') -%}
    {{ return('') }}
  {%- endif -%}
  {%- set known = {} -%}
  {%- for name, comment in adapter.comments_of(relation.render()).columns.items() -%}
    {%- do known.update({name | lower: comment}) -%}
  {%- endfor -%}
  {%- set changes = [] -%}
  {%- for name, column in column_dict.items() if column.description and column.description != known.get(name | lower) -%}
    {%- do changes.append(quoted_column(name) ~ ' comment ' ~ adapter.literal(column.description)) -%}
  {%- endfor -%}
  {%- if changes -%}
    {%- do run_query('alter table ' ~ relation.render() ~ ' alter column ' ~ changes | join(', ')) -%}
  {%- endif -%}
{%- endmacro %}
