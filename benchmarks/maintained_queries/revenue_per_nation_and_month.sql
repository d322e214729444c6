select n_name, trunc(o_orderdate, 'MM') as month, sum(l_extendedprice * (1 - l_discount)) as revenue, count(*) as lines
from tpch.lineitem join tpch.orders on l_orderkey = o_orderkey join tpch.customer on o_custkey = c_custkey
  join tpch.nation on c_nationkey = n_nationkey
group by n_name, trunc(o_orderdate, 'MM')
