"""Where plain SQL would give wrong rows the view of a stream raises, and says how to read the stream instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.read import read_interval
from dbt.adapters.streamspark.changes.view_sql import view_sql

TRACKED = "tblproperties ('delta.enableRowTracking' = 'true'{})"
ADVICE = r"Read the stream with \{\{ stream\('...'\) \}\}"


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    made = spark.newSession()
    made.conf.set("spark.databricks.delta.changelogV2.enabled", "true")
    made.sql("create schema if not exists raising")
    yield made
    made.sql("drop schema raising cascade")


def table(session: SparkSession, properties: str = "") -> str:
    """Versions 1 and 2 are an insert of one file each."""
    session.sql(f"create table raising.t (id int, city string) using delta {properties}")
    session.sql("insert into raising.t values (1, 'Ulm')")
    session.sql("insert into raising.t select /*+ coalesce(1) */ * from values (2, 'Bonn'), (3, 'Ulm')")
    return "raising.t"


def ids(session: SparkSession, mode: str) -> list[Any]:
    """Of the rows that the view of a stream at version 1 shows, and none that the readers do not give."""
    log = TableLog(session, "raising.t")
    frame = session.sql(view_sql(log, "raising.t", 1, mode=mode))
    read = read_interval(session, log, 1, log.version, mode=mode).dataframe
    shown = sorted(row["id"] for row in frame.collect())
    assert shown == sorted(row["id"] for row in read.collect())
    return shown


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        (TRACKED.format(", 'delta.columnMapping.mode' = 'name'"), "is column-mapped"),
        (f"partitioned by (city) {TRACKED.format('')}", "is partitioned"),
    ],
)
def test_append_only(session: SparkSession, properties: str, why: str) -> None:
    name = table(session, properties)
    with pytest.raises(Exception, match=f"table {name} {why}: plain SQL cannot give the append-only .*{ADVICE}"):
        ids(session, "append_only")
    log = TableLog(session, name)
    assert read_interval(session, log, 1, 2, mode="append_only").dataframe.count() == 2


def test_append_only_of_other_tables(session: SparkSession) -> None:
    table(session, TRACKED.format(""))
    session.sql("delete from raising.t where id = 2")
    assert ids(session, "append_only") == [2, 3]


@pytest.mark.parametrize(
    "statement",
    ["optimize raising.t", "delete from raising.t where id = 3"],
    ids=["compacted", "rows deleted"],
)
def test_insert_only(session: SparkSession, statement: str) -> None:
    name = table(session, "tblproperties ('delta.enableDeletionVectors' = 'true')")
    assert ids(session, "insert_only") == [2, 3]
    session.sql(statement)
    with pytest.raises(Exception, match=f"table {name} was compacted, or rows were deleted from its files.*{ADVICE}"):
        ids(session, "insert_only")
