"""What operators a query is made into, and which columns of its tables are left to read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.query.algebra import Operator, Scan, SemiJoin
from tests.spark.queries.history import History

SHAPES = {
    "select id from t where v > 1": "Project(Filter(t[id, v]))",
    "select * from t": "Project(t[id, v])",
    "select 1 as one from t": "Project(t[])",
    "select t.id from t join u on t.id = u.id": "Project(Join(t[id], u[id]))",
    "select t.id from t, u where t.id = u.id and u.w > 1": "Project(Join(t[id], Filter(u[id, w])))",
    "select t.id from t left join u on t.id = u.id": "Project(OuterJoin(t[id], u[id]))",
    "select u.id from t right join u on t.id = u.id": "Project(OuterJoin(u[id], t[id]))",
    "select count(*) n from t": "Project(Aggregate(t[]))",
    "select id, sum(v) s from t group by id having count(*) > 1": "Project(Filter(Aggregate(t[id, v])))",
    "select distinct id from t": "Aggregate(Project(t[id]))",
    "select id from t union all select w from u": "UnionAll(Project(t[id]), Project(u[w]))",
    "select id from t union select w from u": "Aggregate(UnionAll(Project(t[id]), Project(u[w])))",
    "select id from t except select w from u": "Filter(Aggregate(UnionAll(Project(Project(t[id])), Project(Project(u[w])))))",
    "select id from t except all select w from u": "Generate(Filter(Aggregate(UnionAll(Project(Project(t[id])), Project(Project(u[w]))))))",
    "select id from t where id in (select id from u)": "Project(SemiJoin(t[id], Project(u[id])))",
    "select id from t where id not in (select id from u)": "Project(AntiJoin(t[id], Project(u[id])))",
    "select id from t where not exists (select 1 from u where u.id = t.id)": "Project(AntiJoin(t[id], u[id]))",
    "select id, (select max(w) from u) m from t": "Project(Join(t[id], Project(Aggregate(u[w]))))",
    "select id, (select max(w) from u where u.id = t.id) m from t": "Project(OuterJoin(t[id], Aggregate(u[id, w])))",
    "select id, sum(v) over (partition by id) s from t": "Project(Window(t[id, v]))",
    "select id from t qualify row_number() over (partition by id order by v) = 1": "Project(Filter(Window(t[id, v])))",
    "select id from t order by v limit 2": "Project(TopK(Project(t[id, v])))",
    "select id, x from u lateral view explode(tags) e as x": "Project(Generate(u[id, tags]))",
    "select * from t pivot (sum(v) for id in (1, 2))": "Opaque",
    "select x.a from (select id a, v b from t where v > 0) x": "Project(Project(Filter(t[id, v])))",
    "with c as (select id from t) select a.id from c a join c b using (id)": "Project(Join(Project(t[id]), Project(t[id])))",
}


@pytest.fixture(scope="module")
def small(spark: SparkSession) -> Iterator[History]:
    history = History(spark, "query_shapes")
    history.table("t", "id int, v int")
    history.table("u", "id int, w int, tags array<int>")
    history.mark()
    yield history
    history.drop()


def shape(node: Operator) -> str:
    if isinstance(node, Scan):
        return f"{node.table.name.split('.')[-1]}[{', '.join(node.names)}]"
    name = "AntiJoin" if isinstance(node, SemiJoin) and node.anti else type(node).__name__
    return f"{name}({', '.join(shape(child) for child in node.inputs)})" if node.inputs else name


@pytest.mark.parametrize("query", SHAPES)
def test_shape(small: History, query: str) -> None:
    asked = ChangeQuery(small.session, query)
    frontier = asked.frontier(small.points[0])
    assert shape(asked.interval(frontier, frontier).lowered.root) == SHAPES[query]
