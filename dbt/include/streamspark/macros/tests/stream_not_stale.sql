{#- No consumer of the stream, or while it has none not its start, is stale or will be within `days`. -#}
{% test stream_not_stale(model, days=0) %}
  {{ adapter.stream_not_stale(model, days, graph, target.schema) }}
{% endtest %}
