"""Keep an idle consumer's offset: its commit must not grow as old as the logs that it needs."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.commit import Outcome, commit
from dbt.adapters.streamspark.consume.consumption import Consumption, new_attempt
from dbt.adapters.streamspark.consume.cursor import Cursor, resolve_cursor, rewound
from dbt.adapters.streamspark.consume.target import open_target
from dbt.adapters.streamspark.errors import Fenced
from dbt.adapters.streamspark.streams.retention import LOG_RETENTION, retention

KEEP = "keep"


def keep_alive(spark: SparkSession, consumption: Consumption) -> Outcome:
    """Commit `consumption`, which has nothing to read, without rows, when the cursor's commit is older than
    half the shortest retention that it depends on. Otherwise, and when there is no target, write nothing.

    The commit moves the cursor to the ends of the empty intervals, so that the sources may drop files and
    log up to there. When another run consumes meanwhile, its commit is new enough.
    """
    log = open_target(spark, consumption.target)
    cursor = resolve_cursor(log, consumption.consumer)
    idle = consumption.is_empty and cursor.n == consumption.n - 1
    if log is None or not idle or not _is_old(log, cursor, consumption):
        return Outcome(consumption, None, None, 0, skipped=True)
    idly = replace(consumption, action=KEEP)
    return commit(spark, idly, [nothing(consumption.target)], lambda: _again(spark, idly))


def nothing(target: str) -> str:
    """A statement that writes no row, and commits nevertheless under a transaction."""
    return f"MERGE INTO {target} USING (SELECT 1 WHERE false) ON false WHEN MATCHED THEN DELETE"


def _again(spark: SparkSession, consumption: Consumption) -> Consumption:
    """The same offsets once more, unless they have gone back since they were read: then there is something to read."""
    log = open_target(spark, consumption.target)
    if log is not None and rewound(log, consumption.seen, log.version + 1) is not None:
        raise Fenced(
            f"{consumption.consumer}: table {consumption.target} was restored or replaced meanwhile, so its offset was "
            "not renewed. Run the model again."
        )
    cursor = resolve_cursor(log, consumption.consumer)
    return replace(consumption, n=cursor.n + 1, seen=cursor.seen, attempt=new_attempt())


def _is_old(log: TableLog, cursor: Cursor, consumption: Consumption) -> bool:
    """A cursor that is still in the log of a clone's source is old: that log is not this table's own."""
    if cursor.timestamp is None or cursor.version is None:
        return bool(cursor.frontiers)
    return datetime.now(timezone.utc) - cursor.timestamp > shortest_retention(log, consumption) / 2


def shortest_retention(target: TableLog, consumption: Consumption) -> timedelta:
    """Of the target's log, and of the log and the removed files of each table that the streams read."""
    names = {table.name for read in consumption.reads for table in read.end.tables}
    sources = [TableLog(target.spark, name) for name in names]
    kept = [retention(target)[LOG_RETENTION], *(kept for log in sources for kept in retention(log).values())]
    return timedelta(milliseconds=min(kept))
