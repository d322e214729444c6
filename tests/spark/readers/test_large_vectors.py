"""Deletion vectors of many rows: what Delta's reader takes as the text of one is limited, what is deleted is not."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.read import read_interval
from tests.spark.readers.test_traps import TRACKED

marked_rows = import_module("dbt.adapters.streamspark.changes.marked_rows")
NAME = "large_vectors.t"
ROWS = 430_000
COUNTED = "select _change_type, count(*), sum(id), sum(v) from {changes} group by 1 order by 1"


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """A table of one file, of which a third of the rows are deleted and some changed, and then all come back."""
    made = spark.newSession()
    made.sql("create schema if not exists large_vectors")
    made.sql(f"create or replace table {NAME} (id bigint, v bigint) {TRACKED}")
    made.sql(f"alter table {NAME} set tblproperties ('delta.enableDeletionVectors' = 'true')")
    made.sql(f"insert into {NAME} select /*+ coalesce(1) */ id, 1 from range({ROWS})")
    made.sql(f"delete from {NAME} where id % 3 = 0")
    made.sql(f"update {NAME} set v = 2 where id % 30 = 1")
    made.sql(f"restore table {NAME} to version as of 2")
    yield made
    made.sql("drop schema large_vectors cascade")


def counted(session: SparkSession, start: int, end: int) -> list[tuple[object, ...]]:
    found = read_interval(session, TableLog(session, NAME), start, end).dataframe
    return [tuple(row) for row in session.sql(COUNTED.format(changes="{found}"), found=found).collect()]


@pytest.mark.parametrize("most", [marked_rows.MOST_PARTS, 1], ids=["in parts", "whole"])
def test_many_rows_are_marked_and_shown_again(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(marked_rows, "MOST_PARTS", most)
    third, tenth = range(0, ROWS, 3), range(1, ROWS, 30)
    gone = ("delete", len(third), sum(third), len(third))
    before = ("update_preimage", len(tenth), sum(tenth), len(tenth))
    after = ("update_postimage", len(tenth), sum(tenth), 2 * len(tenth))
    assert counted(session, 2, 3) == [gone]
    assert counted(session, 3, 4) == [after, before]
    assert counted(session, 2, 4) == [gone, after, before]
    assert counted(session, 4, 5) == [
        ("insert", *gone[1:]),
        ("update_postimage", *before[1:]),
        ("update_preimage", *after[1:]),
    ]
    assert counted(session, 2, 5) == []
