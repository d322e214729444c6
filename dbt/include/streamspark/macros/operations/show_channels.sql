{# dbt run-operation show_channels [--args '{table: db.events, schema: db, format: json}']: the channels of a table, or of
   all tables of a schema (default: the profile's). #}
{% macro show_channels(table=none, schema=none, format='text') %}
  {% do print(adapter.show_channels(schema or target.schema, table, format)) %}
{% endmacro %}
