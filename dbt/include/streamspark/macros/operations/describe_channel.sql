{# dbt run-operation describe_channel --args '{table: db.events, channel: a, format: json}' #}
{% macro describe_channel(table, channel, format='text') %}
  {% do print(adapter.describe_channel(table, channel, format)) %}
{% endmacro %}
