-- apply_changes again, from a stream that speaks another dialect.
{{ config(incremental_strategy='apply_changes', unique_key='tailnum') }}
select * from {{ stream('planes_stream') }}
