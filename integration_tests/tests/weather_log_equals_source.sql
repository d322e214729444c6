select origin, observed_on, hour
from (
    select 1 as side, origin, observed_on, hour from {{ ref('weather_log') }}
    union all
    select -1 as side, origin, observed_on, hour from {{ source('raw', 'weather') }}
)
group by origin, observed_on, hour
having sum(side) <> 0
