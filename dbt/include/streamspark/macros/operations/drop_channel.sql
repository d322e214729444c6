{# dbt run-operation drop_channel --args '{table: db.events, channel: a}': the channel and its token are gone, and whoever
   has it open can write no more. #}
{% macro drop_channel(table, channel, format='text') %}
  {% do print(adapter.drop_channel(table, channel, format)) %}
{% endmacro %}
