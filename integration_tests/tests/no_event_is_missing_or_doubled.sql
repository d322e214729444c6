-- The events of a channel are numbered from 1: there are as many as the last one says.
select channel
from {{ ref('flight_log') }}
group by channel
having count(*) <> max(position) or count(distinct position) <> max(position)
