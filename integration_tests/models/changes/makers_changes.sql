-- The changes of an outer join: who made each plane of the last days, NULL where the register does not know it.
select f.flight_date, f.carrier, f.flight, f.origin, f.tailnum, p.manufacturer, p.built
from {{ source('raw', 'flights') }} f
left join {{ source('raw', 'planes') }} p on f.tailnum = p.tailnum
where f.flight_date >= date'{{ var('open_month') }}'
