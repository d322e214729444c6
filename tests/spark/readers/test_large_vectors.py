"""Deletion vectors of many rows: what Delta's reader takes as the text of one is limited, what is deleted is not."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.read import read_interval
from tests.spark.queries.history import TRACKED

marked_rows = import_module("dbt.adapters.streamspark.changes.marked_rows")
NAME = "large_vectors.t"
COUNTED = "select _change_type, count(*), sum(id), sum(v) from {changes} group by 1 order by 1"


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    made = spark.newSession()
    made.conf.set("spark.sql.codegen.wholeStage", "true")  # there are rows enough here for it
    made.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
    made.sql("create schema if not exists large_vectors")
    yield made
    made.sql("drop schema large_vectors cascade")


def table(session: SparkSession, rows: int) -> None:
    """Of one file, of which version 2 has a third of the rows no more."""
    session.sql(f"create or replace table {NAME} (id bigint, v bigint) {TRACKED.format(vectors='true')}")
    session.sql(f"insert into {NAME} select /*+ coalesce(1) */ id, 1 from range({rows})")
    session.sql(f"delete from {NAME} where id % 3 = 0")


def counted(session: SparkSession, start: int, end: int) -> list[tuple[object, ...]]:
    """(type, rows, sum of id, sum of v), with versions counted from the table's making."""
    log = TableLog(session, NAME)
    made = next(v for v in range(log.version, -1, -1) if log.commit(v).operation.startswith("CREATE"))
    found = read_interval(session, log, made + start, made + end).dataframe
    return [tuple(row) for row in session.sql(COUNTED.format(changes="{found}"), found=found).collect()]


def test_more_rows_than_one_vector_may_show(session: SparkSession) -> None:
    rows = 430_000
    table(session, rows)
    third = range(0, rows, 3)
    assert counted(session, 1, 2) == [("delete", len(third), sum(third), len(third))]


@pytest.mark.parametrize("most", [marked_rows.MOST_PARTS, 1], ids=["in parts", "whole"])
def test_many_rows_are_marked_and_shown_again(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(marked_rows, "MOST_TEXT", 400)
    monkeypatch.setattr(marked_rows, "MOST_PARTS", most)
    table(session, rows := 900)
    session.sql(f"update {NAME} set v = 2 where id % 30 = 1")
    restored = TableLog(session, NAME).version - 2
    session.sql(f"restore table {NAME} to version as of {restored}")
    third, tenth = range(0, rows, 3), range(1, rows, 30)
    gone = ("delete", len(third), sum(third), len(third))
    before = ("update_preimage", len(tenth), sum(tenth), len(tenth))
    after = ("update_postimage", len(tenth), sum(tenth), 2 * len(tenth))
    assert counted(session, 1, 2) == [gone]
    assert counted(session, 2, 3) == [after, before]
    assert counted(session, 1, 3) == [gone, after, before]
    assert counted(session, 3, 4) == [
        ("insert", *gone[1:]),
        ("update_postimage", *before[1:]),
        ("update_preimage", *after[1:]),
    ]
    assert counted(session, 1, 4) == []
