"""The list of a table's files, which this process keeps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.differentiate.snapshots import files_at
from dbt.adapters.streamspark.changes.log import TableLog
from tests.spark.jobs import jobs_of
from tests.spark.queries.history import History


@pytest.fixture
def history(spark: SparkSession) -> Iterator[History]:
    made = History(spark, "snapshots")
    made.table("t", "id int")
    yield made
    made.drop()


@pytest.mark.parametrize("rows", [0, 1])
def test_files_are_listed_once(history: History, rows: int) -> None:
    history.run(f"insert into t select cast(id as int) from range({rows})")
    log = TableLog(history.session, "snapshots.t")
    with jobs_of(history.session) as first:
        files = files_at(log, log.version)
    with jobs_of(history.session) as second:
        assert files_at(log, log.version) == files
    assert files is not None and len(files) == rows
    assert first.count > 0 and second.count == 0
