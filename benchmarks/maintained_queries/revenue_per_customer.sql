select o_custkey, sum(l_extendedprice * (1 - l_discount)) as revenue, count(*) as lines
from tpch.lineitem join tpch.orders on l_orderkey = o_orderkey
group by o_custkey
