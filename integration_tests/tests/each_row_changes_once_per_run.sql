-- The latest run holds no more than one change of a flight: an insert, a delete, or one pair.
select flight_date, carrier, flight, origin
from {{ ref('latest_changes') }}
group by flight_date, carrier, flight, origin
having count(*) > 2 or count(*) <> count(distinct _change_type)
