"""SQL that sqlglot's Spark cannot read and Spark can: right, in the user's own words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.errors import UnsupportedQuery
from tests.spark.queries.history import History
from tests.spark.queries.oracle import check_everything, check_interval, check_ledger


@pytest.fixture(scope="module")
def notes(spark: SparkSession) -> Iterator[History]:
    history = History(spark, "dialects")
    history.table("t", "id int, note string, at timestamp")
    history.view("docs", "select id, parse_json(note) as j from t")
    history.view("halves", "select id >>> 1 as half, note from t")
    history.run(
        """insert into t values (1, '{"a": 1, "b": {"c": "x"}}', timestamp'2024-01-01'), (2, '{"a": 2}', null), (-3, null, null)"""
    )
    history.marked(
        ["""insert into t values (4, '{"a": 4, "b": {"c": "y"}}', null)""", "update t set id = 5 where id = 1"],
        ["""update t set note = '{"a": 7, "b": {"c": "z"}}' where id = 2""", "delete from t where id < 0"],
    )
    yield history
    history.drop()


@pytest.mark.parametrize(
    "query",
    [
        "select id, j:a::int as a, j:b.c::string as c from docs",
        "select j:b.c::string as c, count(*) as n from docs where j:a::int > 1 group by j:b.c::string",
        "select id >>> 1 as half, count(*) as n from t group by id >>> 1",
        "select half, max(note) as m from halves group by half",
        "select t.id from t where exists (select 1 from halves h where h.half = t.id >>> 1)",
    ],
)
def test_it_is_computed_whole(notes: History, query: str) -> None:
    assert check_everything(notes, query)
    with pytest.raises(UnsupportedQuery, match="another way"):
        check_interval(notes, query, 0, 2, mode="strict")


@pytest.mark.parametrize(
    ("query", "why"),
    [("select id >>> 1 as half, rand() as r from t", "rand"), ("select id >>> 1 as h from t where at < now()", "time")],
)
def test_what_has_no_answer_is_refused_all_the_same(notes: History, query: str, why: str) -> None:
    with pytest.raises(UnsupportedQuery, match=why):
        check_interval(notes, query, 0, 1)


def test_shifts_are_read_by_themselves(notes: History) -> None:
    """Spark cannot parse `>>` behind the `map(` of what is put around a query."""
    check_ledger(
        notes,
        "with recursive r as (select 1 as n union all select n + 1 from r where n < 3) select id, n, id >> n as s from t, r",
        (0, 1, 2),
    )
