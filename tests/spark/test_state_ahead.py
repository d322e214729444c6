"""The state of a target's log, computed before the commit asks for it."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.state_ahead import StateAhead
from tests.spark.jobs import jobs_of

TRACKED = "'delta.enableRowTracking' = 'true'"


def made(spark: SparkSession, path: Path) -> str:
    table = f"delta.`{path}`"
    spark.sql(f"create table {table} (id int, v int) using delta tblproperties ({TRACKED})")
    spark.sql(f"insert into {table} values (1, 1), (2, 2)")
    return table


def fresh(spark: SparkSession, table: str) -> TableLog:
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    return TableLog(spark, table)


def test_what_was_computed_ahead_runs_no_job_again(spark: SparkSession, tmp_path: Path) -> None:
    table = made(spark, tmp_path / "t")
    with jobs_of(spark) as unready:
        fresh(spark, table).snapshot().domainMetadata()
    log = fresh(spark, table)
    with jobs_of(spark) as here:
        ahead = StateAhead()
        ahead.read(log)
        ahead.end()
        TableLog(spark, table).snapshot().domainMetadata()
    assert unready.count > 0 == here.count


def test_what_goes_wrong_ahead_is_left_to_the_commit(spark: SparkSession, tmp_path: Path) -> None:
    log = fresh(spark, made(spark, tmp_path / "t"))
    log._jvm, ahead = None, StateAhead()
    ahead.read(log)
    assert ahead._pool.submit(lambda: "next").result() == "next"
