"""Rows that were kept are those that were computed, whoever holds them: the optimizer, tasks, or the executors."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.differentiate import local_rows
from dbt.adapters.streamspark.changes.differentiate.local_rows import keep
from tests.spark.jobs import jobs_of

TYPES = """select cast(id as int) as i, if(id % 3 = 0, null, id * 1.50) as d, concat('k', id) as s, id % 2 = 0 as b,
  timestamp_micros(id) as t, timestamp_ntz'2026-01-01' as n, date_add(date'2026-01-01', cast(id as int)) as day,
  named_struct('x', id, 'y', array(id, null)) as st, map('a', id) as m, cast(concat('k', id) as binary) as bin, null as nothing
from range(7) order by id"""
HELD_BY = {"optimizer": {}, "tasks": {"FEW": 3}, "executors": {"MOST_ROWS": 3}}


@pytest.fixture(params=HELD_BY)
def held_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in HELD_BY[request.param].items():
        monkeypatch.setattr(local_rows, name, value)
    return str(request.param)


def test_rows_and_types_are_what_they_were(spark: SparkSession, held_by: str) -> None:
    frame = spark.sql(TYPES)
    kept = keep(frame)
    assert (kept.count, kept.is_small) == (7, held_by != "executors")
    assert kept.frame.schema == frame.schema
    assert sorted(map(str, kept.frame.collect())) == sorted(map(str, frame.collect()))


def test_they_are_computed_once(spark: SparkSession, held_by: str) -> None:
    frame = spark.sql("select id, rand() as chance from range(9)")
    kept = keep(frame).frame
    assert kept.collect() == kept.collect()


def test_a_relation_of_them_joins_itself(spark: SparkSession, held_by: str) -> None:
    kept = keep(spark.sql("select id, id div 2 as half from range(9)")).frame
    kept.createOrReplaceTempView("kept_rows")
    joined = spark.sql(
        "select a.id, b.id as other from kept_rows a join kept_rows b on a.half = b.half and a.id < b.id"
    )
    assert sorted(map(tuple, joined.collect())) == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert {*kept.exceptAll(kept).collect()} == set()


def test_few_are_read_without_a_job(spark: SparkSession) -> None:
    kept = keep(spark.sql("select id from range(9)")).frame
    with jobs_of(spark) as jobs:
        assert len(kept.where("id > 3").collect()) == 5
    assert jobs.count == 0


def test_spark_knows_how_few_they_are(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it broadcasts them without being told."""
    monkeypatch.setattr(local_rows, "FEW", 3)
    kept = keep(spark.sql("select id from range(9)")).frame
    plan = spark.range(10**9).join(kept, "id")._jdf.queryExecution().executedPlan().toString()
    assert "BroadcastHashJoin" in plan


def test_no_task_gets_too_many(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_rows, "FEW", 3)
    monkeypatch.setattr(local_rows, "ROWS_OF_A_TASK", 2)
    kept = keep(spark.sql("select id from range(9)")).frame
    assert kept._jdf.queryExecution().toRdd().getNumPartitions() == 4
    assert sorted(row.id for row in kept.collect()) == [*range(9)]
