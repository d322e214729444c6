select o_orderkey, o_custkey, o_orderdate, o_orderstatus, c_name, c_mktsegment
from tpch.orders join tpch.customer on o_custkey = c_custkey
