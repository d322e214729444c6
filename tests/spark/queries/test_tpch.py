"""All of TPC-H as change queries, in strict mode: over three refreshes each equals the difference of its two results.

STREAMSPARK_TPCH names some of them (`q01,q13`), STREAMSPARK_TPCH_SCALE the scale factor.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes import changes
from tests.consuming import newest
from tests.tpch.data import QUERIES, TABLES, load, refresh

pytestmark = pytest.mark.long(minutes=5)

SCHEMA = "tpch"
SCALE = float(os.environ.get("STREAMSPARK_TPCH_SCALE", "0.01"))
ROUNDS, SHARE = 3, 0.002
NAMES = os.environ.get("STREAMSPARK_TPCH", ",".join(QUERIES)).split(",")
GONE, CAME = ("delete", "update_preimage"), ("insert", "update_postimage")
FAST = {"spark.sql.adaptive.enabled": "false", "spark.sql.unionOutputPartitioning": "false"}


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    for key, value in FAST.items():
        session.conf.set(key, value)
    return session


Versions = dict[str, int]


@pytest.fixture(scope="module")
def versions(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[Versions]:
    """Table -> version at the start and after each refresh."""
    load(session, SCHEMA, SCALE, tmp_path_factory.mktemp("tpch"))
    session.sql(f"use {SCHEMA}")
    found = [_newest(session)]
    for number in range(1, ROUNDS + 1):
        for statement in refresh(number, SHARE):
            session.sql(statement).collect()
        found.append(_newest(session))
    return found


def _newest(session: SparkSession) -> Versions:
    return {name: newest(session, name) for name in (f"{SCHEMA}.{table}" for table in TABLES)}


@pytest.mark.parametrize("name", NAMES)
def test_a_query_of_tpch(session: SparkSession, versions: list[Versions], name: str) -> None:
    bags = [_bag(_result(session, QUERIES[name], at)) for at in versions]
    for start, end, before, after in zip(versions, versions[1:], bags, bags[1:], strict=False):
        rows = changes(session, QUERIES[name], start, end, mode="strict").collect()
        assert _applied(before, rows) == after
        assert _minimal(rows)


def _result(session: SparkSession, query: str, at: Versions) -> DataFrame:
    """The query at given versions, through views that stand before the tables of the same name."""
    for name, version in at.items():
        _then(session, name, version).createOrReplaceTempView(name.split(".")[-1])
    frame = session.sql(query)
    for name in at:
        session.catalog.dropTempView(name.split(".")[-1])
    return frame


@cache
def _then(session: SparkSession, name: str, version: int) -> DataFrame:
    """A table at a version, held in memory: time travel costs jobs of its own each time."""
    return session.sql(f"select * from {name} version as of {version}").cache()


def _bag(frame: DataFrame) -> Counter[str]:
    return Counter(repr(tuple(row)) for row in frame.collect())


def _values(row: Any) -> str:
    return repr(tuple(row)[:-4])


def _applied(before: Counter[str], rows: list[Any]) -> Counter[str]:
    result = before.copy()
    result.subtract(_values(row) for row in rows if row["_change_type"] in GONE)
    result.update(_values(row) for row in rows if row["_change_type"] in CAME)
    assert min(result.values(), default=0) >= 0, "a row was taken away that was not there"
    return +result


def _minimal(rows: list[Any]) -> bool:
    """Ids are unique on each side, and no row goes and comes back as it was."""
    gone = {row["_row_id"]: _values(row) for row in rows if row["_change_type"] in GONE}
    came = {row["_row_id"]: _values(row) for row in rows if row["_change_type"] in CAME}
    return len(gone) + len(came) == len(rows) and all(gone.get(row) != values for row, values in came.items())


def test_each_refresh_changes_about_as_many_orders_as_it_should(
    session: SparkSession, versions: list[Versions]
) -> None:
    expected = SHARE * SCALE * 1_500_000
    for start, end in pairwise(versions):
        kinds = Counter(
            row["_change_type"]
            for row in changes(session, f"{SCHEMA}.orders", start, end).select("_change_type").collect()
        )
        assert all(0.5 * expected <= kinds[kind] <= 2 * expected for kind in (*GONE, *CAME)), kinds


def test_there_are_twenty_two() -> None:
    assert len(QUERIES) == 22
