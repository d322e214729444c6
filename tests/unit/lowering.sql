-- only the columns that are used are read
select id from t;
-- Project [id1]
--   Scan t [id1]

-- conditions of WHERE filter the part that they are about, or join
select t.v, u.w from t, u where t.k = u.k and t.id > 1 and t.id + u.id > 3;
-- Project [v3, w7]
--   Join [k2 = k6, id1 + id5 > 3]
--     Filter [id1 > 1]
--       Scan t [id1, k2, v3]
--     Scan u [id5, k6, w7]

-- what every alternative of an OR demands is drawn out
select t.id from t, u where (t.k = u.k and t.id = 1) or (t.k = u.k and t.id = 2);
-- Project [id1]
--   Join [k2 = k6, (k2 = k6 AND id1 = 1) OR (k2 = k6 AND id1 = 2)]
--     Scan t [id1, k2]
--     Scan u [k6]

-- a right join is a left join
select t.v, u.w from t right join u on t.k = u.k;
-- Project [v3, w7]
--   LeftJoin [k2 = k6]
--     Scan u [k6, w7]
--     Scan t [k2, v3]

-- USING in a full join
select k, v, w from t full join u using (k);
-- Project [c8, v3, w7]
--   Project [v3, w7, coalesce(k2, k6)]
--     FullJoin [k2 = k6]
--       Scan t [k2, v3]
--       Scan u [k6, w7]

-- a natural join
select v, w from t natural join u;
-- Project [v3, w7]
--   Join [id1 = id5, k2 = k6]
--     Scan t [id1, k2, v3]
--     Scan u [id5, k6, w7]

-- groups, HAVING, an alias and a place in GROUP BY
select k + 1 as kk, count(*) as n from t group by kk having sum(id) > 2;
-- Project [c5, c6]
--   Filter [c7 > 2]
--     Aggregate [k2 + 1; COUNT(*), SUM(id1)]
--       Scan t [id1, k2]

-- one row without GROUP BY
select max(id) as m from t where k = 1;
-- Project [c5]
--   Aggregate [; MAX(id1)]
--     Filter [k2 = 1]
--       Scan t [id1, k2]

-- DISTINCT is a group without aggregates
select distinct v from t;
-- Aggregate [v5; ]
--   Project [v3]
--     Scan t [v3]

-- UNION is DISTINCT of UNION ALL
select k from t union select k from u;
-- Aggregate [c10; ]
--   UnionAll
--     Project [k2]
--       Scan t [k2]
--     Project [k7]
--       Scan u [k7]

-- EXCEPT ALL counts both sides
select k from t except all select k from u;
-- Generate [sequence(1L, greatest(c17 - c18, 0L))]
--   Filter [greatest(c17 - c18, 0L) > 0]
--     Aggregate [c14; count_if(c15 = 0), count_if(c15 = 1)]
--       UnionAll
--         Project [k5, 0]
--           Project [k2]
--             Scan t [k2]
--         Project [k9, 1]
--           Project [k7]
--             Scan u [k7]

-- EXISTS is a semi join with its correlated conditions
select id from t where exists (select 1 from u where u.k = t.k and u.w = 'x');
-- Project [id1]
--   SemiJoin [k9 = k2]
--     Scan t [id1, k2]
--     Filter [w10 = 'x']
--       Scan u [k9, w10]

-- NOT IN is no anti join
select id from t where k not in (select k from u);
-- Project [id1]
--   NotIn [k2, k8]
--     Scan t [id1, k2]
--     Project [k6]
--       Scan u [k6]

-- an uncorrelated scalar subquery is a cross join with one row
select id from t where id > (select avg(id) from u);
-- Project [id1]
--   Join [id1 > c9]
--     Scan t [id1]
--     Project [c8]
--       Aggregate [; AVG(id5)]
--         Scan u [id5]

-- a correlated one is a left join with groups, and counts of nothing are 0
select id, (select count(*) from u where u.k = t.k) as n from t;
-- Project [id1, (COALESCE(c11, 0))]
--   LeftJoin [(k2) = c12]
--     Scan t [id1, k2]
--     Aggregate [k9; COUNT(*)]
--       Scan u [k9]

-- EXISTS under OR is a column
select id from t where id = 1 or exists (select 1 from u where u.k = t.k);
-- Project [id1]
--   Filter [id1 = 1 OR (COALESCE(c5, 0) > 0)]
--     LeftJoin [(k2) = c12]
--       Scan t [id1, k2]
--       Aggregate [k10; count(*)]
--         Scan u [k10]

-- windows keep the partition that all of them share
select id, row_number() over (partition by k, v order by id) as rn, sum(id) over (partition by k) as s from t;
-- Project [id1, c5, c6]
--   Window [ROW_NUMBER() OVER (PARTITION BY k2, v3 ORDER BY id1, __id), SUM(id1) OVER (PARTITION BY k2)]
--     Scan t [id1, k2, v3]

-- what picks one of several equals picks it by its number in the partition; the frame stays as it is
select id, first_value(v) over (partition by k order by id) as f, last_value(v, true) over (partition by k order by id) as l from t;
-- Project [id1, c5, c7]
--   Window [MIN_BY(v3, c6) OVER (PARTITION BY k2 ORDER BY id1), MAX_BY(v3, IF((v3) IS NULL, NULL, c6)) OVER (PARTITION BY k2 ORDER BY id1)]
--     Scan t [id1, k2, v3]

-- a window without an order is all of its partition, in the order of ids
select any_value(v) over (partition by k) as a, max_by(v, id) over (partition by k) as m from t;
-- Project [c5, c6]
--   Window [ANY_VALUE(v3) OVER (PARTITION BY k2 ORDER BY __id rows BETWEEN UNBOUNDED preceding AND UNBOUNDED following), MAX_BY(v3, IF((id1) IS NULL, NULL, STRUCT(id1, __id))) OVER (PARTITION BY k2)]
--     Scan t [id1, k2, v3]

-- QUALIFY filters behind the windows
select id from t qualify rank() over (partition by k order by id) = 1;
-- Project [id1]
--   Filter [c5 = 1]
--     Window [RANK() OVER (PARTITION BY k2 ORDER BY id1)]
--       Scan t [id1, k2]

-- LIMIT with its order
select id, v from t order by v desc, id limit 3;
-- Project [id5, v6]
--   TopK [c7 DESC, c8]
--     Project [id1, v3, v3, id1]
--       Scan t [id1, v3]

-- LATERAL VIEW
select id, e from t lateral view outer explode(arr) x as e;
-- Project [id1, c6]
--   Generate [arr4]
--     Scan t [id1, arr4]

-- ROLLUP is a union of groups
select k, count(*) as n from t group by rollup(k);
-- Project [c5, c6]
--   UnionAll
--     Project [c7, c8]
--       Aggregate [k2; COUNT(*)]
--         Project [k2]
--           Scan t [k2]
--     Project [null, c12]
--       Aggregate [c13; COUNT(*)]
--         Project [1]
--           Scan t [k2]

-- a CTE may be read twice
with a as (select k, id from t) select x.id, y.k from a x join a y on x.k = y.k;
-- Project [id6, k11]
--   Join [k5 = k11]
--     Project [k2, id1]
--       Scan t [id1, k2]
--     Project [k8]
--       Scan t [k8]

-- fields of a struct
select s.a.b as b, a.b + c as d from s;
-- Project [a1.`b`, a1.`b` + c2]
--   Scan s [a1, c2]

-- no FROM
select 1 as one;
-- Project [1]
--   Constant [select '0' as __id]

-- VALUES
select y from (values (1, 'a'), (2, 'b')) as v(x, y) where x > 1;
-- Project [c2]
--   Filter [c1 > 1]
--     Constant [select * from values ('0', 1, 'a'), ('1', 2, 'b') as v(__id, c1, c2)]

-- PIVOT has no rule: the smallest query around it has none
select z.x from (select * from t pivot (sum(id) for k in (1, 2))) z join u on z.x = u.id;
-- Project [c1]
--   Join [c1 = id2]
--     Opaque [PIVOT]
--     Scan u [id2]

-- what follows parentheses is done to what they hold
(select id, v from t) order by id limit 2;
-- Project [id7, v8]
--   TopK [c9]
--     Project [id5, v6, id5]
--       Project [id1, v3]
--         Scan t [id1, v3]

-- a join in parentheses is one of FROM, under the names that it gives
select x.v, y.w from ((select id, v from t) x join (select id, w from u) y on x.id = y.id);
-- Project [v6, w11]
--   Join [id5 = id10]
--     Project [id1, v3]
--       Scan t [id1, v3]
--     Project [id7, w9]
--       Scan u [id7, w9]

-- but not on the other side of a join
select t.v from t left join (u join s on u.id = s.c) on t.id = u.id;
-- Opaque [joins in parentheses]

-- ORDER BY takes an alias before a column, in expressions too
select -v as v from t order by v + 0, t.v limit 1;
-- Project [v5]
--   TopK [c6, c7]
--     Project [-v3, (-v3) + 0, v3]
--       Scan t [v3]

-- VALUES with a LIMIT
values (1), (2) order by col1 limit 1;
-- Opaque [VALUES with ORDER BY or LIMIT]
