{#- Two models have consumed the base tables that they share up to the same versions. -#}
{% test same_frontier(model, to) %}
  {{ adapter.same_frontier(model, to) }}
{% endtest %}
