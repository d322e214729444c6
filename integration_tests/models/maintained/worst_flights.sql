-- A window query without a key, matched by row ids: the three latest arrivals of each day of the open month.
select flight_date, carrier, flight, origin, arr_delay
from {{ source('raw', 'flights') }}
where flight_date >= date'{{ var('open_month') }}' and arr_delay is not null
qualify row_number() over (partition by flight_date order by arr_delay desc, carrier, flight, origin) <= 3
