select l_orderkey, l_linenumber, o_orderdate, o_orderstatus, c_name, c_mktsegment, l_quantity, l_discount,
  l_extendedprice, l_shipdate
from tpch.lineitem join tpch.orders on l_orderkey = o_orderkey join tpch.customer on o_custkey = c_custkey
