-- table: this run's changes and no others. A run that brings nothing leaves it empty.
{{ config(materialized='table') }}
select flight_date, carrier, flight, origin, dep_time, arr_time, _change_type
from {{ stream('flights_stream') }}
