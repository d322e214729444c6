"""Each row of the table in changes/query/lower.py: every kind of query over everyday changes, by
the oracle, and with a rule of its own where nothing else is said."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes import changes
from dbt.adapters.streamspark.changes.differentiate import local_rows, stepwise
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.errors import UnsupportedQuery
from tests.spark.queries.held import held_leaves
from tests.spark.queries.history import History
from tests.spark.queries.oracle import check_interval, check_ledger

O_COLUMNS = "id int, cust int, amt decimal(10,2), st string, d double, at timestamp, s struct<a:int,b:string>"
MADE_O = (
    "select cast(id as int), if(id % 6 = 5, null, cast(id % 5 as int)), cast(id * 1.5 as decimal(10,2)), "
    "if(id % 3 = 0, null, concat('s', id % 4)), case id % 4 when 0 then double('NaN') when 1 then -0.0D when 2 then 0.0D else id / 3 end, "
    "timestamp'2026-01-01 00:00:00' + make_interval(0, 0, 0, 0, 0, 0, (id % 4) * 0.000001), "
    "if(id % 5 = 0, null, named_struct('a', cast(id % 2 as int), 'b', if(id % 2 = 0, null, 'b')))"
)
FIRST_ROUND = (
    "update o set amt = amt + 1 where id % 4 = 0",
    "update o set st = st",  # nothing
    "update o set cust = 2 where id = 5",  # from NULL
    "update o set cust = null, amt = 0 where id = 6",
    "delete from o where id % 7 = 3 or cust = 4",  # a group becomes empty
    f"insert into o {MADE_O} from values (20), (21), (22) as v(id)",
    f"insert into o {MADE_O} from values (1), (1) as v(id)",  # duplicates
    "update c set name = 'zz' where id = 2",
    "delete from c where id in (3, 4)",
    "insert into c values (7, 'n7', array('q', null), map('x', 7)), (null, 'nn', array(), null)",
    "update e set x = x + 1",
)
SECOND_ROUND = (
    "delete from o where id = 1",
    f"insert into o {MADE_O} from values (1), (3) as v(id)",
    "update c set id = 5 where id = 7",
    "update c set tags = array('a', 'c'), name = null where id = 2",
    "delete from c where id = 1",
    "insert into c values (1, 'n1', array('a', 'b'), map('x', 1))",
    "delete from e where true",
)

WITH_RULES = {
    "projection and selection": [
        "select * from o",
        "select id, amt * 2 twice, upper(st) u from o where amt > 5 and st is not null",
        "select id, s.a, o.s.b, at from o where s.a = 1",
        "select id as `odd name`, st as `select`, cust as `ü``x` from o",
        "select * except (d, at) from o where st like 's%' or cust in (1, 2)",
        "select 1 as one from o",
        "select id, d from o where (cust = 1) and (true)",
        "select id from (select id, cust = 1 as flag from o) x where (flag)",
        "select c.*, o.id oid from c join o on o.cust = c.id",
        "select id a, a + 1 b, b * 2 x from o",
    ],
    "joins": [
        "select o.id, c.name from o join c on o.cust = c.id",
        "select o.id, c.name from o, c where o.cust = c.id and c.name > 'n1'",
        "select * from c join (select id, amt, st from o) x using (id)",
        "select * from (select id, amt from o) a natural join (select id, name from c) b",
        "select o.id, e.x from o cross join e where o.id < 6",
        "select a.id, b.id bid from o a join o b on a.cust = b.cust and a.id < b.id",
        "select o.id, c.name, c2.name name2 from o join c on o.cust = c.id join c c2 on c2.id = o.id",
        "select o.id, c.id cid from o join c on o.cust <=> c.id",
        "select o.id, c.id cid from o join c on o.cust = c.id + 1 or o.id = c.id",
        "select o.id, c.id cid from o join c on o.amt > c.id * 4 and o.cust = c.id",
        "select a.id, b.id bid from o a join o b on a.d = b.d where a.id <= b.id",
    ],
    "outer joins": [
        "select o.id, c.name from o left join c on o.cust = c.id",
        "select o.id, c.name from o left join c on o.cust = c.id and c.name <> 'zz'",
        "select o.id, c.name from o left join c on o.cust = c.id and o.amt > 5",
        "select o.id, c.name from o right join c on o.cust = c.id",
        "select o.id, c.name from o full join c on o.cust = c.id",
        "select o.id, c.id cid from o full join c on o.cust <=> c.id",
        "select * from (select id, amt from o) a full join (select id, name from c) b using (id)",
        "select * from (select id, amt from o) a right join (select id, name from c) b using (id)",
        "select * from (select id, amt from o) a natural left join (select id, name from c) b",
        "select o.id, c.name, e.x from o left join c on o.cust = c.id left join e on e.x = c.id",
        "select o.id, c.name from o left join c on o.cust = c.id where c.id is null",
        "select a.id, b.id bid, c.name from o a left join o b on a.cust = b.id left join c on c.id = b.cust",
        "select o.id, c.name from o left join c on cast(o.cust as bigint) = c.id",
        "select e.x, o.id, c.name from e, o right join c on o.cust = c.id",
        "select e.x, o.id, c.name from e, o full join c on o.cust = c.id",
    ],
    "semi joins": [
        "select * from o left semi join c on o.cust = c.id",
        "select * from o left anti join c on o.cust = c.id",
        "select id, amt from o left semi join (select id from c) x using (id)",
        "select * from o where cust in (select id from c)",
        "select * from o where exists (select 1 from c where c.id = o.cust and c.name <> 'zz')",
        "select * from o where not exists (select * from c where c.id = o.cust)",
        "select * from o where cust not in (select id from c where id is not null)",
        "select * from o where cust not in (select id from c)",
        "select * from o where (cust, id) in (select id, id from c)",
        "select * from o where id in (select x.cust from o x where x.st = o.st)",
        "select * from o where exists (select 1 from e)",
        "select * from o where not exists (select 1 from e where x > 1)",
        "select * from o where exists (select 1 from c where c.id = o.cust and c.id < o.amt)",
        "select * from o where exists (select 1 from c where c.id = o.cust order by name limit 1)",
        "select * from o where exists (select 1 from e order by x limit 1 offset 1)",
    ],
    "explode": [
        "select id, t from c lateral view explode(tags) x as t",
        "select id, p, t from c lateral view outer posexplode(tags) x as p, t",
        "select id, explode(tags) as t from c",
        "select id, k, v from c lateral view explode(m) x as k, v",
        "select id, a, b from c lateral view explode(tags) x as a lateral view explode(tags) y as b",
        "select t, count(*) n from c lateral view outer explode(tags) x as t group by t",
    ],
    "groups": [
        "select cust, count(*) n, sum(amt) s, avg(amt) a from o group by cust",
        "select cust, st, min(amt) m, max(id) x from o group by cust, st having count(*) > 1",
        "select d, count(*) n from o group by d",
        "select at, count(*) n from o group by at",
        "select s, count(*) n from o group by s",
        "select s.a sa, count(*) n from o group by s.a",
        "select cust, count(distinct st) n, count(distinct st, id) m from o group by cust",
        "select cust, sum(case when st = 's1' then amt end) s, avg(if(id < 0, amt, null)) a from o group by cust",
        "select cust + 1 as k, sum(amt) filter (where id > 4) s from o group by k",
        "select cust, st, count(*) n from o group by all",
        "select sum(amt) s, count(*) n, max(d) m from o",
        "select sum(amt) s, count(*) n from o where id > 1000",
        "select count(*) n from o having count(*) > 13",
        "select distinct st from o",
        "select distinct cust, s from o",
        "select cust, sort_array(collect_set(st)) x, percentile(amt, 0.5) p from o group by cust",
        "select n, count(*) m from (select cust, count(*) n from o group by cust) group by n",
        "select c.name, sum(o.amt) s from c left join o on o.cust = c.id group by c.name",
    ],
    "grouping sets": [
        "select cust, st, sum(amt) s, grouping_id() g from o group by rollup (cust, st)",
        "select cust, st, count(*) n, grouping(cust) g from o group by cube (cust, st)",
        "select cust, st, count(*) n from o group by grouping sets ((cust), (st), ())",
        "select cust, st, sum(cust) n from o group by cust, st with rollup having grouping(st) = 0 or sum(cust) > 3",
        "select cust, st, count(*) n from o where id > 1000 group by rollup (cust, st)",
        "select cust, count(*) n from o group by grouping sets ((cust), (cust))",
    ],
    "windows": [
        "select id, row_number() over (partition by cust order by amt, id) rn from o where id <> 1",
        "select id, sum(amt) over (partition by cust order by id, amt rows between 1 preceding and current row) s from o where id <> 1",
        "select id, lag(amt) over w l, rank() over w r from o window w as (partition by cust order by st, id)",
        "select id, amt from o qualify row_number() over (partition by cust order by amt desc, id) = 1",
        "select id, count(*) over (partition by cust) n, max(amt) over (partition by cust, st) m from o",
        "select cust, sum(sum(amt)) over (partition by cust % 2) t from o group by cust",
        "select cust, st, rank() over (partition by cust order by sum(amt), st) r from o group by cust, st",
        "select id, avg(amt) over (partition by d) a from o",
    ],
    "first rows": [
        "select id, amt from o order by amt desc, id limit 3",
        "select id, amt from o where id <> 1 order by amt, id limit 3 offset 2",
        "select distinct cust from o order by cust nulls last limit 2",
        "select cust, count(*) n from o group by cust order by 2 desc, 1 limit 2",
        "select c.name, x.id from c join (select id, cust from o where id <> 1 order by amt desc, id limit 4) x on x.cust = c.id",
        "select id from o where id <> 1 union all select id from c order by id nulls last limit 4",
        "select id from o where id <> 1 order by id offset 9",
    ],
    "set operations": [
        "select id from o union all select id from c",
        "select cust from o union select id from c",
        "select cust from o union all select cust from o",
        "select cust from o intersect select id from c",
        "select cust from o intersect all select id from c",
        "select cust from o except select id from c",
        "select cust from o except all select id from c",
        "select id, null as x from o union all select id, name from c",
        "select id, cast(id as bigint) b from c union all select id, d from o",
        "select cust, st from o except all select 1, 's1'",
        "(select cust from o union all select id from c) except all (select x from e)",
        "select s from o union select s from o where id < 5",
    ],
    "scalar subqueries": [
        "select id, (select max(amt) from o) m from c",
        "select id, (select x from e where x = 2) m from c",
        "select id, (select count(*) from o where o.cust = c.id) n from c",
        "select id, (select sum(amt) from o where o.cust = c.id and o.id > 2) s from c",
        "select id, (select count(*) + coalesce(max(id), -1) from o where o.cust = c.id) n from c",
        "select id, (select any_value(x) from e where e.x = c.id) s from c",
        "select * from o where amt = (select max(i.amt) from o i where i.cust = o.cust)",
        "select * from o where amt > (select avg(amt) from o)",
        "select id, case when exists (select 1 from c where c.id = o.cust) then 1 else 0 end x from o",
        "select * from o where id = 2 or exists (select 1 from c where c.id = o.cust)",
        "select * from o where id < 3 or not exists (select 1 from e)",
        "select cust, count(*) n from o group by cust having count(*) > (select min(x) from e)",
        "select id, exists (select 1 from c where c.id <=> o.cust) x from o",
        "select id, (select count(*) from c where c.id <=> o.cust) n from o",
        "select id, (select max(name) from c where c.id = o.cust) n from o where st = 's1'",
    ],
    "names": [
        "with a as (select cust, sum(amt) s from o group by 1) select a.s, c.name from a join c on c.id = a.cust where a.s > 5",
        "with a as (select id, cust k from o), b as (select k, count(*) n from a group by k) select a.id, b.n from a join b on a.k = b.k",
        "with c as (select id, amt from o where amt > 3) select * from c",
        "with o as (select id + 1 as id, cust from o) select c.name, o.id from o join c on c.id = o.cust",
        "with a (p, q) as (select id, amt from o) select p, max(q) m from a group by p",
        "select * from (values (1, 'a'), (2, 'b')) v (k, w) join c on c.id = v.k",
        "select v.* from values (1, 'a'), (2, 'b'), (2, 'b') v (k, w)",
        "select r.id, c.name from range(4) r left join c on c.id = r.id",
        "select x.k, x.t from (select id as k, explode(tags) as t from c) x (k, t) where x.k > 0",
        "select id + 1 as x, (select max(x) from e) m from o",
        "select o.id, o.cust as name from o where exists (select 1 from c where c.id = o.cust and name = 'n2')",
        "select * from v1",
        "select p, count(*) n from v2 group by p",
        "select V1.Name, o.ID from v1 join o on V1.id = O.cust",
        "select id, plus_one(cust) k from o where plus_one(id) > 3",
    ],
}
WITHOUT_RULES = {
    "select id, cust, exists (select count(*) from c where c.id = o.cust) x from o": "a correlated subquery with groups",
    "select id, sum(amt) over (order by id, amt) s from o where id <> 1": "a window function without a PARTITION BY",
    "select o.id, c.id cid from o left join c on o.amt > c.id * 4": "an outer join without an equality",
    "select * from o where not exists (select 1 from c where c.id > o.cust)": "EXISTS or IN without an equality",
    "select * from o pivot (sum(amt) for st in ('s1', 's2'))": "PIVOT",
    "select * from o where id = 2 or cust in (select id from c)": "a subquery in this place",
    "select id, x.n from c, lateral (select count(*) n from o where o.cust = c.id) x": "LATERAL",
    "select id, stack(2, cust, 1) as y from o": "a generator in this place",
    "with recursive r (n) as (select 1 union all select n + 1 from r where n < 3) select c.id, r.n from c join r on r.n = c.id": "recursive",
    "select id, (select max(name) from c where c.id < o.cust) n from o": "a subquery correlated by something else than an equality",
    "select id, inline(array(struct(1, 2))) from o": "a generator in this place",
}


@pytest.fixture(scope="module")
def shop(spark: SparkSession) -> Iterator[History]:
    history = History(spark, "shop")
    history.table("o", O_COLUMNS)
    history.table("c", "id int, name string, tags array<string>, m map<string, int>", vectors=False)
    history.table("e", "x int")
    history.view("v1", "select id, upper(name) as n from c where id is not null", "(id, name)")
    history.view("v2", "select v1.id, o.amt from v1 left join o on o.cust = v1.id", "(p, q)")
    spark.sql("create or replace function shop.plus_one(x int) returns int return x + 1")
    history.run(
        f"insert into o {MADE_O} from range(0, 14, 1, 1)",
        "insert into c select id, concat('n', id), if(id % 2 = 0, array('a', 'b'), null), map('x', id, 'y', null) from range(0, 6, 1, 1)",
        "insert into e values (1)",
    )
    history.marked(FIRST_ROUND, SECOND_ROUND)
    with held_leaves():
        yield history
    history.drop()


@pytest.mark.parametrize("query", [query for queries in WITH_RULES.values() for query in queries])
def test_by_rules(shop: History, query: str) -> None:
    check_interval(shop, query, 0, 1, mode="strict")
    if "rollup" in query or "left join" in query or "not in" in query:
        check_interval(shop, query, 1, 2)


@pytest.mark.parametrize("bound", ["MOST_ROWS", "FEW"])
@pytest.mark.parametrize("operator", ["rollup", "left join", "not in", "over ("])
def test_over_more_rows_than_the_driver_or_the_optimizer_holds(
    shop: History, monkeypatch: pytest.MonkeyPatch, operator: str, bound: str
) -> None:
    monkeypatch.setattr(local_rows, bound, 2)
    queries = [query for queries in WITH_RULES.values() for query in queries if operator in query]
    assert queries
    for query in queries:
        check_interval(shop, query, 1, 2)


# Inputs that share keys with their neighbours, so that the delta of the first and of the last shares none with some.
CHAINS = [
    "select e.x, c.name, o.id from o join c on o.cust = c.id join e on e.x = c.id",
    "select o.id, c.name, p.id pid from c join o on o.cust = c.id join o p on p.amt = o.amt and p.id > c.id",
    "select p.id, c.name, o.id oid, d.name other from c d join o p on p.cust = d.id join o on o.amt = p.amt join c on c.id = o.cust",
    "select c.name, count(*) n, sum(p.amt) s from c join o on o.cust = c.id join o p on p.id = o.id + 1 group by c.name",
    "select o.id, c.name, e.x from o join c on o.cust <=> c.id cross join e where e.x + c.id < 7",
]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """How many rows each result has that is held on the way, in their order."""
    counts: list[int | None] = []
    keep = Differentiation.keep

    def counted(self: Differentiation, sql: str) -> local_rows.Kept:
        counts.append((found := keep(self, sql)).count)
        return found

    monkeypatch.setattr(Differentiation, "keep", counted)
    return counts


@pytest.mark.parametrize("query", CHAINS)
def test_a_delta_meets_what_is_near_before_what_is_far(
    shop: History, monkeypatch: pytest.MonkeyPatch, held: list[int | None], query: str
) -> None:
    check_interval(shop, query, 0, 1)
    at_once = len(held)
    monkeypatch.setattr(stepwise, "LARGE", -1)
    check_ledger(shop, query, (0, 1, 2), whole=False)
    assert len(held) > 3 * at_once


def test_what_is_near_may_be_more_than_the_driver_holds(
    shop: History, monkeypatch: pytest.MonkeyPatch, held: list[int | None]
) -> None:
    """Six rows of c changed, which have more orders than eight."""
    monkeypatch.setattr(stepwise, "LARGE", -1)
    monkeypatch.setattr(local_rows, "MOST_ROWS", 8)
    for query in CHAINS:
        check_ledger(shop, query, (0, 1), whole=False)
    assert any(few == 6 and (many or 0) > 8 for few, many in pairwise(held))


@pytest.mark.parametrize("query", list(WITHOUT_RULES))
def test_computed_whole_and_said(shop: History, query: str) -> None:
    check_interval(shop, query, 0, 1)
    with pytest.raises(UnsupportedQuery, match=f"there is no rule for .*{WITHOUT_RULES[query]}"):
        changes(shop.session, query, shop.points[0], shop.points[1], mode="strict")
