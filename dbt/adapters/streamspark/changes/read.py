"""The changes of one base table over an interval, in the metadata columns that the reader of them expects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.commit_times import CommitTimes, commit_times, history_times
from dbt.adapters.streamspark.changes.file_changes import ADDED_ONLY, EMPTY, INITIAL_ROWS
from dbt.adapters.streamspark.changes.initial_rows import initial_rows
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import Commit, TableLog
from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS, Dialect
from dbt.adapters.streamspark.changes.projection import Projection
from dbt.adapters.streamspark.changes.readers import READERS
from dbt.adapters.streamspark.changes.readers.append_only import append_only, inserted_files
from dbt.adapters.streamspark.changes.readers.insert_only import arrived_files, insert_only
from dbt.adapters.streamspark.changes.selected import selected
from dbt.adapters.streamspark.errors import InvalidStreamConfig

T = TypeVar("T")

MODES = ("standard", "append_only", "insert_only")


@dataclass(frozen=True)
class ChangeSet:
    """`dataframe`: the data columns, then the dialect's metadata columns. `shape`: the plan shape."""

    dataframe: DataFrame
    shape: str


def read_interval(
    spark: SparkSession,
    log: TableLog,
    start: int | None,
    end: int,
    *,
    mode: str = "standard",
    reader: str = "endpoint_diff",
    projection: Projection | None = None,
    unique_key: tuple[str, ...] = (),
    metadata_columns: str = "delta",
) -> ChangeSet:
    """The changes of the table in `log` after version `start` up to and including `end`; `start` None gives all
    rows at `end` as inserts. Lazy: reads the log, runs no Spark job.

    Raises InvalidInterval, StaleSource (a commit is gone), BrokenSource (row tracking was off), and
    InvalidStreamConfig for an unknown mode, reader or dialect, or a column that a metadata column would hide.
    """
    interval = Interval(log, start, end, projection or Projection(), unique_key)
    dialect = known("metadata_columns", metadata_columns, DIALECTS)
    _check_columns(interval, dialect)
    rows = _rows(interval, mode, reader)
    times = _times(interval, dialect)
    return ChangeSet(selected(rows, ["__data.*", *dialect.select(times)]), interval_shape(interval, mode))


def plan_shape(log: TableLog, start: int | None, end: int, mode: str = "standard") -> str:
    """The plan shape of an interval, from its commits' file actions alone."""
    return interval_shape(Interval(log, start, end), mode)


def interval_shape(interval: Interval, mode: str) -> str:
    """The same of an interval that is there. Modes that read inserts have but two shapes beside the initial rows."""
    inserting: dict[str, Callable[[Sequence[Commit]], list[Any]]] = {
        "append_only": inserted_files,
        "insert_only": arrived_files,
    }
    if interval.start is None or mode not in inserting:
        return interval.shape
    return ADDED_ONLY if inserting[mode](interval.commits) else EMPTY


def _rows(interval: Interval, mode: str, reader: str) -> DataFrame:
    known("mode", mode, dict.fromkeys(MODES))
    read = known("reader", reader, READERS)
    if mode != "insert_only":
        interval.check_tracking()
    if interval.shape == INITIAL_ROWS:
        return initial_rows(interval, tracked=mode != "insert_only")
    by_mode: dict[str, Callable[[Interval], DataFrame]] = {
        "append_only": append_only,
        "insert_only": insert_only,
    }
    return by_mode.get(mode, read)(interval)


def _times(interval: Interval, dialect: Dialect) -> CommitTimes:
    if dialect.old_times or interval.start is None:
        return history_times(interval.log, interval.end)
    return commit_times(interval.commits)


def known(key: str, value: str, allowed: Mapping[str, T]) -> T:
    if value not in allowed:
        raise InvalidStreamConfig(f"{key}: {value!r} is not known; use one of {', '.join(sorted(allowed))}")
    return allowed[value]


def _check_columns(interval: Interval, dialect: Dialect) -> None:
    hidden = {name.lower() for name, _ in interval.data_columns} & {name.lower() for name in dialect.names}
    if hidden:
        raise InvalidStreamConfig(
            f"table {interval.log.name} has columns that the metadata columns of a stream would hide: "
            f"{', '.join(sorted(hidden))}. Name the columns you want, under other names, or choose another "
            f"metadata_columns (one of {', '.join(DIALECTS)})."
        )
