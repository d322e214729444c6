{#
  A stream from where this model stopped to the end pinned for this run, as a relation for FROM:

      select * from {{ stream('orders_stream') }}

  Takes what ref() takes, and is ref() to dbt: lineage, --defer and unit tests see the stream's node. Models that are
  `incremental` or `table` consume what they read, in the commit of their own rows; analyses, tests and
  `dbt show --inline` look at everything since the stream's start. With --empty and --sample it is empty, and
  nothing is consumed.
#}
{% macro stream() -%}
  {%- set relation = ref(*varargs, **kwargs) -%}
  {%- if not execute or model.resource_type == 'unit_test' -%}
    {{ return(relation) }}
  {%- endif -%}
  {%- if invocation_args_dict.get('which') in ('compile', 'generate') and load_relation(relation) is none -%}
    {{ return(relation) }}  {#- not built yet, and nobody runs it -#}
  {%- endif -%}
  {%- if model.resource_type != 'model' -%}
    {{ return(adapter.read_stream(model, relation)) }}
  {%- endif -%}
  {%- set existing = load_relation(this) -%}
  {%- set is_table = existing is not none and existing.type == 'table' -%}
  {%- set nothing = relation.limit is not none or invocation_args_dict.get('sample') is not none -%}
  {{ return(adapter.read_stream(model, relation, this, is_table, should_full_refresh() or (existing is not none and not is_table), nothing)) }}
{%- endmacro %}
