{#-
  dbt run-operation stream_has_data --args '{stream: orders_stream}'

  Whether a run would find something to consume, for any of the stream's consumers or for `consumer`. Fails where there is
  nothing, unless `fail_when_empty: false`.
-#}
{% macro stream_has_data(stream, consumer=none, fail_when_empty=true, format='text') -%}
  {%- set arguments = {'name': stream, 'consumer': consumer, 'fail_when_empty': fail_when_empty} -%}
  {%- do operate('stream_has_data', arguments, format) -%}
{%- endmacro %}
