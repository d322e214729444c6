{#
  The rows are changes: known change types, updates in pairs that change something, and in each run a row id once among
  the old rows and once among the new. `run`: an expression that tells the run of a row, where the table has no row
  tracking; `per_commit`: for a redo log, in which a row id comes once a commit.
#}
{% test valid_change_set(model, run=none, per_commit=false) %}
  {{ adapter.valid_change_set(model, run, per_commit) }}
{% endtest %}
