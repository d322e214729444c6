"""The changes of a query as a bag, where a row comes several times. test_property.py has random queries of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.queries.history import History
from tests.spark.queries.oracle import check_bag, shown


@pytest.fixture(scope="module")
def pair(spark: SparkSession) -> Iterator[History]:
    """Two tables; both of them change."""
    history = History(spark, "query_bag")
    history.table("a", "id int, k int, n int")
    history.table("b", "k int, n int")
    history.run("insert into a values (1, 1, 5), (2, 1, 5), (3, 2, 7)", "insert into b values (1, 10), (2, 20)")
    history.mark()
    history.run("update a set n = n + 1 where k = 2", "update b set n = n - 1 where k = 2", "delete from a where k = 1")
    history.run("insert into a values (4, 3, 1), (5, 3, 1)", "insert into b values (3, 2)")
    history.mark()
    yield history
    history.drop()


CASES = {
    "a row comes and goes several times": (
        "select a.k, a.n from a join b on a.k = b.k where a.k != 2",
        {(1, 5): -2, (3, 1): 2},
    ),
    "what is as it was cancels out": ("select a.k, a.n + b.n as n from a join b on a.k = b.k where a.k = 2", {}),
    "rows take the place of others": ("select k * 0 as k, 6 as n from a where k in (1, 3)", {}),
    "rows only come": ("select k, n from b where k = 3", {(3, 2): 1}),
    "rows only go": ("select k, n from a where k = 1", {(1, 5): -2}),
    "groups": ("select k, sum(n) as n from a group by k", {(1, 10): -1, (2, 7): -1, (2, 8): 1, (3, 2): 1}),
    "nulls": ("select nullif(k, 1) as k, cast(null as int) as n from a", {(None, None): -2, (3, None): 2}),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_of_equal_values(pair: History, name: str) -> None:
    query, expected = CASES[name]
    assert check_bag(pair, query, 0, 1) == {shown(values): count for values, count in expected.items()}


def test_maps_are_left_to_the_ids(pair: History) -> None:
    assert check_bag(pair, "select map(a.k, b.n) as k from a join b on a.k = b.k", 0, 1) is None
