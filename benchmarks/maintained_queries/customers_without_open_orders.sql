select c_custkey, c_name, c_acctbal
from tpch.customer
where not exists (select * from tpch.orders where o_custkey = c_custkey and o_orderstatus = 'O')
