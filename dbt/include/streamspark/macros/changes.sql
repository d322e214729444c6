{#
  The changes of a query, or of a relation, between two points in the past, as a relation for FROM:

      select * from {{ changes('select * from ' ~ ref('orders') ~ ' where amount > 3', start=3, end=7) }}
      select * from {{ changes(ref('orders'), start={'stream': 'orders_stream'}, format='append_only') }}

  `start`, `end`: a version (of the one base table), a timestamp, {'stream': 'name'}, or {'db.table': version, …}; without
  `end` up to now. It keeps no offset. Not for views and ephemeral models, which other sessions read.
#}
{% macro changes(query, start=none, end=none, format='min_delta', metadata_columns='delta', mode='auto') -%}
  {%- set sql = query if query is string else query.render() -%}
  {%- set options = {'format': format, 'metadata_columns': metadata_columns, 'mode': mode} -%}
  {%- set analysed = invocation_args_dict.get('which') not in ('compile', 'generate') -%}
  {%- set start, end = adapter.in_catalog(start, graph), adapter.in_catalog(end, graph) -%}
  {%- set relation = adapter.changes_between(model, sql, start, end, options, analysed, reads_are_narrowed()) -%}
  {{ return('(select * from ' ~ relation ~ ' where false)' if reads_are_narrowed() else relation) }}
{%- endmacro %}
