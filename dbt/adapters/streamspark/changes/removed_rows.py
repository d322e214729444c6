"""The rows that the newest commits of this process took out of tables: a model that reads what another has just written
need not find them in the files again, of which whole columns are decoded for a few thousand rows."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import Commit
from dbt.adapters.streamspark.java_names import java_names

MOST_ROWS = 250_000  # of all tables together

_held: OrderedDict[str, tuple[int, Any]] = OrderedDict()
_lock = Lock()


def remember(commit_id: str, frame: DataFrame, count: int) -> None:
    """`frame` has the `count` rows that a commit, known by its id (Commit.identity), took out of its table: its
    columns, and `_metadata` with row_id and row_commit_version. They must have been computed: no file is read for them
    any more."""
    with _lock:
        _held[commit_id] = (count, frame._jdf.queryExecution().analyzed())
        while sum(rows for rows, _ in _held.values()) > MOST_ROWS:
            _held.popitem(last=False)


def removed_rows(interval: Interval) -> DataFrame | None:
    """All rows that the start had and the end has not in the same image, in the table's columns and with `_metadata`;
    None where they are not held: another process made the commit, or more than one changed the table."""
    changing = [commit for commit in interval.commits if _changes(commit)]
    if len(changing) != 1:
        return None
    with _lock:
        _, plan = _held.get(changing[0].identity, (0, None))
    return None if plan is None else _frame(interval.log.spark, plan)


def _changes(commit: Commit) -> bool:
    return bool(commit.adds or commit.removes or commit.metadata)


def _frame(spark: SparkSession, plan: Any) -> DataFrame:
    """In the reader's own session, which need not be the writer's."""
    dataset = java_names(spark).org.apache.spark.sql.classic.Dataset
    return DataFrame(dataset.ofRows(spark._jsparkSession, plan), spark)
