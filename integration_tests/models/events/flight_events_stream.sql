-- What the airports send through channels, from the first event on.
{{ config(materialized='stream', mode='append_only', show_initial_rows=true) }}
select * from {{ source('raw', 'flight_events') }}
