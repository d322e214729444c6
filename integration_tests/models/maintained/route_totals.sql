-- Groups that add up: a changed flight is added to or taken from its route, the other flights of which are not read.
{{ config(unique_key=['carrier', 'origin', 'dest']) }}
select carrier, origin, dest, count(*) as flights, count(arr_time) as arrived, sum(distance) as miles
from {{ source('raw', 'flights') }}
group by carrier, origin, dest
