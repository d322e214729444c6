-- insert_overwrite: the stream says which days were touched, and those days are computed afresh.
-- Two streams, one commit: both move, or neither does.
{{ config(incremental_strategy='insert_overwrite', partition_by='flight_date') }}
with touched as (
    select flight_date from {{ stream('flights_stream') }}
    union
    select observed_on from {{ stream('weather_stream') }}
),
flights as (
    select
        flight_date,
        count(*) as flights,
        count(dep_time) as departed,
        count(arr_time) as arrived,
        sum(arr_delay) as minutes_late
    from {{ source('raw', 'flights') }}
    group by flight_date
),
weather as (
    select
        observed_on as flight_date,
        max(wind_speed) as strongest_wind,
        min(visib) as worst_visibility,
        sum(precip) as rain
    from {{ source('raw', 'weather') }}
    group by observed_on
)
select /*+ coalesce(1) */
    flights, departed, arrived, minutes_late, strongest_wind, worst_visibility, rain, flight_date
from touched
join flights using (flight_date)
left join weather using (flight_date)
