{#
  A stream: decide what is to be done, do it, or leave the stream as it is. An existing stream keeps its offset; only
  --full-refresh moves it to now.

  Config: mode, show_initial_rows, at, before, unique_key, metadata_columns, on_configuration_change, on_stale,
  max_data_extension_days, enable_tracking (docs/reference/stream-config.md); tblproperties and persist_docs as for a view.
#}
{% materialization stream, adapter='streamspark', supported_languages=['sql'] -%}
  {%- set existing = load_relation(this) -%}
  {%- set target = this.incorporate(type='stream') -%}

  {{ run_hooks(pre_hooks) }}

  {%- set change = adapter.stream_change(model, target, compiled_code, should_full_refresh(), reads_are_narrowed(), graph) -%}
  {%- for note in change.notes -%}
    {%- do exceptions.warn('Stream ' ~ target ~ ' ' ~ note) -%}
  {%- endfor -%}

  {%- if change.sql is none -%}
    {%- do stream_kept(change) -%}
  {%- else -%}
    {%- do put_stream(existing, target, change) -%}
  {%- endif -%}

  {%- do apply_grants(target, config.get('grants'), should_revoke(existing, full_refresh_mode=True)) -%}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target]}) }}
{%- endmaterialization %}


{#- Whether refs are to give no rows, or a sample of them. -#}
{% macro reads_are_narrowed() -%}
  {{ return(flags.EMPTY or invocation_args_dict.get('sample') is not none) }}
{%- endmacro %}


{#- Make or mend the view of a stream, unless it is as it should be. -#}
{% macro put_stream(existing, target, change) -%}
  {%- set fingerprint = adapter.fingerprint(get_create_stream_sql(target, change)) -%}
  {%- if change.action == 'keep' and adapter.stream_statement(target) == fingerprint -%}
    {{ return(stream_kept(change)) }}
  {%- endif -%}
  {%- if existing is not none and existing.type == 'table' -%}
    {{ handle_existing_table(should_full_refresh(), existing) }}
  {%- endif -%}
  {%- call statement('main') -%}
    {{ get_create_stream_sql(target, change, fingerprint) }}
  {%- endcall -%}
  {%- set done = {'create': 'created', 'replace': 'created anew', 'alter': 'altered', 'keep': 'kept, view renewed'} -%}
  {%- do store_raw_result('main', message=done[change.action] ~ ' at ' ~ change.definition.position, code='OK', rows_affected=none) -%}
{%- endmacro %}


{% macro stream_kept(change) -%}
  {%- set cleaned = ', which its table cleaned away since' if change.sql is none else '' -%}
  {%- do store_raw_result('main', message='kept at ' ~ change.definition.position ~ cleaned, code='OK', rows_affected=none) -%}
{%- endmacro %}
