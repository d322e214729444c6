{#
  `dbt clone`: a table becomes a shallow clone, which goes on consuming where its source stopped; a stream becomes a
  stream with the same definition and offset; a view is made as in any run.
#}
{% materialization clone, adapter='streamspark' -%}
  {%- if not defer_relation -%}
    {%- do log('No relation found in state manifest for ' ~ model.unique_id, info=True) -%}
    {{ return({'relations': []}) }}
  {%- endif -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- if existing and not flags.FULL_REFRESH -%}
    {%- do log('Relation ' ~ existing ~ ' already exists', info=True) -%}
    {{ return({'relations': []}) }}
  {%- endif -%}
  {%- set source = load_cached_relation(defer_relation) -%}
  {%- if source is not none and source.render() == this.render() -%}
    {%- do log('Relation ' ~ this ~ ' is the one to be cloned: nothing to do', info=True) -%}
    {{ return({'relations': []}) }}
  {%- endif -%}
  {%- set kind = source.type if source is not none and source.type in ('table', 'stream') else 'view' -%}
  {%- set target = this.incorporate(type=kind) -%}
  {%- if kind == 'table' -%}
    {%- do clone_table(existing, target, source) -%}
  {%- elif kind == 'stream' -%}
    {%- do put_stream(existing, target, adapter.stream_clone(source, target)) -%}
  {%- else -%}
    {{ return(materialization_view_spark()) }}
  {%- endif -%}
  {%- do apply_grants(target, config.get('grants'), should_revoke(existing, full_refresh_mode=True)) -%}
  {{ return({'relations': [target]}) }}
{%- endmaterialization %}


{% macro clone_table(existing, target, source) -%}
  {%- if not source.is_delta -%}
    {%- do exceptions.raise_compiler_error('Only Delta tables can be cloned, and ' ~ source ~ ' is none.') -%}
  {%- endif -%}
  {%- if existing is not none and existing.type != 'table' -%}
    {%- do adapter.drop_relation(existing) -%}
  {%- endif -%}
  {%- call statement('main') -%}
    {{ create_or_replace_clone(target, source) }}
  {%- endcall -%}
{%- endmacro %}
