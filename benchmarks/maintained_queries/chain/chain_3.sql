select o_custkey, c_mktsegment, trunc(o_orderdate, 'MM') as month, sum(l_extendedprice * (1 - l_discount)) as revenue,
  count(*) as lines
from {{ ref('chain_2__way') }}
group by o_custkey, c_mktsegment, trunc(o_orderdate, 'MM')
