-- apply_changes: a copy of the board that inserts, updates and deletes keep equal to it.
{{ config(
    incremental_strategy='apply_changes',
    unique_key=['flight_date', 'carrier', 'flight', 'origin']
) }}
select * from {{ stream('flights_stream') }}
