{#
  What the model holds is what a full refresh would give. For a changes model: all changes put together are its own
  query, at its offset. For another one: its rows, or changes put together, are those of `query` (a relation or a
  SELECT), with the tables that the model has consumed at the versions up to which it has.
#}
{% test equals_full_refresh(model, query=none, start_from=none) %}
  {{ adapter.equals_full_refresh(model, query, start_from) }}
{% endtest %}
