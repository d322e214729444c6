{# dbt run-operation expire_channels [--args '{table: db.events, schema: db, format: json}']: forgets the channels that
   nothing came through for 30 days, of a table or of all tables of a schema (default: the profile's). #}
{% macro expire_channels(table=none, schema=none, format='text') %}
  {% do print(adapter.expire_channels(schema or target.schema, table, format)) %}
{% endmacro %}
