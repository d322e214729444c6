-- A stream on a join: what was in the air in a storm. It changes when a flight does, and when the weather comes in.
{{ config(mode='standard', show_initial_rows=true) }}
select
    f.flight_date, f.carrier, f.flight, f.origin, f.dep_delay, f.arr_delay, w.hour, w.wind_speed, w.visib
from {{ source('raw', 'flights') }} f
join {{ source('raw', 'weather') }} w
    on f.origin = w.origin and f.flight_date = w.observed_on and f.sched_dep_time div 100 = w.hour
where w.wind_speed >= 20 or w.visib < 1
