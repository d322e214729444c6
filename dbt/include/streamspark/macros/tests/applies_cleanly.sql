{#
  Applied run by run, the changes never take a row away that is not there. They start from what a changes model began
  with, or from `start_from` (a relation or a SELECT), or from nothing.
#}
{% test applies_cleanly(model, start_from=none, run=none, per_commit=false) %}
  {{ adapter.applies_cleanly(model, start_from, run, per_commit) }}
{% endtest %}
