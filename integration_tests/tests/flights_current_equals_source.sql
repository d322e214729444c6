-- A row that the copy has and the board has not, or the other way round, and how often too many.
-- Counted, not EXCEPT ALL both ways in one UNION, which Spark 4.2.0 can get wrong (docs/reference/errors.md).
select row, sum(side) as surplus
from (
    select struct(*) as row, 1 as side from {{ ref('flights_current') }}
    union all
    select struct(*) as row, -1 as side from {{ source('raw', 'flights') }}
)
group by row
having sum(side) <> 0
