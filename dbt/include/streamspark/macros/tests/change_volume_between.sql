{#- The newest run brought at least `min_rows` changes and at most `max_rows`: a fuse. -#}
{% test change_volume_between(model, min_rows=0, max_rows=none, run=none) %}
  {{ adapter.change_volume(model, min_rows, max_rows, run) }}
{% endtest %}
