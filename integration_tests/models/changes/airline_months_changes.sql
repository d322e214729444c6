-- The changes of an aggregate. Only the groups that a changed flight is in are computed, at both ends.
select
    trunc(flight_date, 'month') as month, carrier,
    count(*) as flights,
    count(arr_time) as arrived,
    avg(arr_delay) as minutes_late
from {{ source('raw', 'flights') }}
group by month, carrier
