{#
  The view that a stream is. `change` is what adapter.stream_change() decided; `fingerprint` that of this very
  statement without it, by which the next run sees whether the view is still as it should be.
#}
{% macro get_create_stream_sql(relation, change, fingerprint=none) -%}
  {%- if config.get('contract').enforced -%}
    {{ get_assert_columns_equivalent(change.sql) }}
  {%- endif -%}
  create or replace view {{ relation }}
  {{ stream_column_comments(change.sql) }}
  {%- if config.persist_relation_docs() and model.description %}
  comment {{ adapter.literal(model.description) }}
  {%- endif %}
  tblproperties (
    {%- set properties = dict(config.get('tblproperties') or {}) -%}
    {%- do properties.update(change.properties) -%}
    {%- if fingerprint -%}{%- do properties.update({'streamspark.statement': fingerprint}) -%}{%- endif -%}
    {%- for key, value in properties.items() %}
    {{ adapter.literal(key) }} = {{ adapter.literal(value) }}{{ ',' if not loop.last }}
    {%- endfor %}
  )
  as
  {{ change.sql }}
{%- endmacro %}

{% macro stream_column_comments(sql) -%}
  {%- if config.persist_column_docs() and model.columns -%}
    {%- set described = {} -%}
    {%- for name, column in model.columns.items() if column.description -%}
      {%- do described.update({name | lower: column.description}) -%}
    {%- endfor -%}
  (
    {%- for column in adapter.columns_of_query(sql) %}
    {{ column.quoted }}{{ ' comment ' ~ adapter.literal(described[column.name | lower]) if column.name | lower in described }}
    {{- ',' if not loop.last }}
    {%- endfor %}
  )
  {%- endif -%}
{%- endmacro %}
