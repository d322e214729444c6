select c_mktsegment, month, sum(revenue) as revenue, sum(lines) as lines, count(*) as customers
from {{ ref('chain_3__way') }}
group by c_mktsegment, month
