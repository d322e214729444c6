-- merge: the model decides what a change means. A flight taken off the board stays here, as cancelled.
{{ config(
    incremental_strategy='merge',
    unique_key=['flight_date', 'carrier', 'flight', 'origin']
) }}
select
    flight_date, carrier, flight, origin, dest,
    case
        when _change_type = 'delete' then 'cancelled'
        when arr_delay is not null then 'arrived'
        when arr_time is not null then 'diverted'
        when dep_time is not null then 'departed'
        else 'scheduled'
    end as status
from {{ stream('flights_stream') }}
where _change_type <> 'update_preimage'
