{# `dbt show --select` of a stream: its pending changes as a consumer would get them, not the query that they are of. #}
{% macro streamspark__get_limit_sql(sql, limit) -%}
  {%- set shown = 'select * from ' ~ adapter.peek_stream(this) if model.config.materialized == 'stream' else sql -%}
  {{ default__get_limit_sql(shown, limit) }}
{%- endmacro %}
