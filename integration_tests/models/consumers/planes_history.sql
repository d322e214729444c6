-- apply_changes with a history: the register as it was on any day. Its own column orders the versions of a plane.
{{ config(
    incremental_strategy='apply_changes',
    unique_key='tailnum',
    scd_type=2,
    sequence_by='last_flown'
) }}
select * from {{ stream('planes_stream') }}
