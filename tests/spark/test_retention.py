"""What a base table keeps for its streams' sake, it keeps no longer than they are there."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.literals import literal
from dbt.adapters.streamspark.operate.drop_stream import drop_stream
from dbt.adapters.streamspark.operate.project import Project
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.streams.config import StreamConfig
from dbt.adapters.streamspark.streams.lifecycle import StreamModel
from dbt.adapters.streamspark.streams.retention import FILE_RETENTION, LOG_RETENTION
from tests.consuming import make_source

KEPT = (FILE_RETENTION, LOG_RETENTION)


@pytest.fixture
def table(spark: SparkSession) -> Iterator[str]:
    name = make_source(spark, f"default.kept_{uuid4().hex[:8]}")
    yield name
    spark.sql(f"drop table {name}")


def make(spark: SparkSession, name: str, table: str, days: int) -> None:
    change = StreamModel(spark, name, f"select * from {table}", StreamConfig(max_data_extension_days=days)).decide(
        None, False
    )
    pairs = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in change.properties.items())
    spark.sql(f"create view {name} tblproperties ({pairs}) as {change.sql}")


def kept(spark: SparkSession, table: str) -> list[str | None]:
    properties = TableLog(spark, table).properties
    assert [key for key in properties if key.startswith("streamspark")] in ([], ["streamspark.retention_before"])
    return [properties.get(name) for name in KEPT]


def drop(spark: SparkSession, name: str) -> object:
    return drop_stream(Scope(spark, Project("default", ())), name).facts["retention_restored"]


def test_the_last_stream_takes_it_back(spark: SparkSession, table: str) -> None:
    spark.sql(f"alter table {table} set tblproperties ('{FILE_RETENTION}' = 'interval 3 days')")
    make(spark, f"{table}_a", table, days=14)
    assert kept(spark, table) == ["interval 14 days", None]
    make(spark, f"{table}_b", table, days=40)
    assert kept(spark, table) == ["interval 40 days", "interval 40 days"]
    assert drop(spark, f"{table}_a") == []
    assert kept(spark, table) == ["interval 40 days", "interval 40 days"]
    assert drop(spark, f"{table}_b") == [table]
    assert kept(spark, table) == ["interval 3 days", None]


def test_what_somebody_has_set_since_stays(spark: SparkSession, table: str) -> None:
    make(spark, f"{table}_a", table, days=40)
    spark.sql(f"alter table {table} set tblproperties ('{LOG_RETENTION}' = 'interval 60 days')")
    assert drop(spark, f"{table}_a") == [table]
    assert kept(spark, table) == [None, "interval 60 days"]


def test_what_is_long_enough_stays(spark: SparkSession, table: str) -> None:
    """Delta wants files kept no longer than the log, and looks at one statement alone."""
    spark.sql(f"alter table {table} set tblproperties ('{LOG_RETENTION}' = 'interval 60 days')")
    make(spark, f"{table}_a", table, days=40)
    assert kept(spark, table) == ["interval 40 days", "interval 60 days"]
    drop(spark, f"{table}_a")
    assert kept(spark, table) == [None, "interval 60 days"]


def test_what_was_never_raised_is_no_concern(spark: SparkSession, table: str) -> None:
    make(spark, f"{table}_a", table, days=0)
    before = TableLog(spark, table).version
    assert drop(spark, f"{table}_a") == []
    assert TableLog(spark, table).version == before
