-- Every event once, however often its sender was killed, and whatever arrived while dbt ran.
{{ config(materialized='incremental', incremental_strategy='append') }}
select channel, position, happened_at, event, carrier, flight, origin, dest
from {{ stream('flight_events_stream') }}
