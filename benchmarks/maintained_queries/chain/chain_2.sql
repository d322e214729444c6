select l_orderkey, l_linenumber, l_extendedprice, l_discount, l_shipdate, o_custkey, o_orderdate, o_orderstatus, c_name,
  c_mktsegment
from tpch.lineitem join {{ ref('chain_1__way') }} on l_orderkey = o_orderkey
