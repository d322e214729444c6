-- An outer join, matched by its key: who made each plane of the open month, NULL where the register does not know it.
{{ config(unique_key=['flight_date', 'carrier', 'flight', 'origin']) }}
select f.flight_date, f.carrier, f.flight, f.origin, p.manufacturer, p.last_flown
from {{ source('raw', 'flights') }} f
left join {{ source('raw', 'planes') }} p on f.tailnum = p.tailnum
where f.flight_date >= date'{{ var('open_month') }}'
