"""`vacuum_sources`: VACUUM the base tables of streams, but none of which a cursor needs what VACUUM would take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.changes_model import OWN
from dbt.adapters.streamspark.errors import OffsetUnknown, StreamsparkError
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown
from dbt.adapters.streamspark.streams.freshness import first_removal, removal_time
from dbt.adapters.streamspark.streams.names import table_sql
from dbt.adapters.streamspark.streams.retention import FILE_RETENTION, retention
from dbt.adapters.streamspark.streams.source import open_table

LISTING_TASKS = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
TASKS_PER_CORE = 8
MARGIN = timedelta(hours=1)  # VACUUM looks at the clock later than we do


@dataclass(frozen=True)
class Hold:
    """`holder` (a target, or a stream that nothing has read) needs the changes of a table since a version."""

    holder: str
    table: TableVersion
    log: TableLog


def vacuum_sources(scope: Scope, name: str | None = None, dry_run: bool = False) -> Shown:
    """The base tables of the stream called `name`, or of all streams, changes and differential models of the catalog.

    A table is left alone, and the operation fails in the end, where the oldest cursor in any schema needs a file that
    was removed before the table's retention: Delta has forgotten by then that it was removed on purpose, and no RETAIN
    would keep it (docs/decisions/0024). Fact `lost`: why a cursor does not count, which is stale or whose table is
    gone. Table `tables`: table, oldest_version and held_by (whose cursor that is), needs_since, vacuumed, files (how
    many go; known of a `dry_run` alone).

    Raises UnknownName, and OffsetUnknown where a consumer does not know its offset: then nobody knows what it needs.
    """
    wanted = None if name is None else {table.table_id for table in scope.stream(name).stream.start.tables}
    holds, lost = _holds(Scope(scope.spark, scope.project, everywhere=True))
    tables: dict[str, list[Hold]] = {}
    for hold in holds:
        if wanted is None or hold.table.table_id in wanted:
            tables.setdefault(hold.log.path, []).append(hold)
    rows = [_vacuumed(found, dry_run) for found in tables.values()]
    held = [f"{row['table']} (by {row['held_by']})" for row in rows if not row["vacuumed"]]
    failure = f"left alone, since a cursor needs what VACUUM would take: {', '.join(held)}" if held else ""
    return Shown({"dry_run": dry_run, "lost": lost}, {"tables": rows}, failure=failure)


def _holds(scope: Scope) -> tuple[list[Hold], list[str]]:
    """What is needed, and why some of it cannot be had any more."""
    held, lost = list[Hold](), list[str]()
    for holder, point in _points(scope):
        for table in point.tables:
            try:
                held.append(Hold(holder, table, open_table(scope.spark, holder, table, point.timestamp)))
            except StreamsparkError as error:  # nothing that is still there can help it
                lost.append(str(error))
    return held, lost


def _points(scope: Scope) -> Iterator[tuple[str, Frontier]]:
    """Every cursor, and the start of each stream that something is yet to read from there. A consumer keeps its offset
    in a stream that was dropped or made anew since; nothing can read on from that one."""
    known = {OWN, *(entry.definition.id for entry in scope.streams if entry.definition)}
    for state in scope.consumers:
        if state.cursor is None:
            raise OffsetUnknown(f"nothing was vacuumed: {state.problem}")
        yield from ((state.target, point) for key, point in state.cursor.frontiers.items() if key in known)
    for entry in scope.streams:
        if entry.definition is None:
            continue
        readers, key = scope.readers(entry), entry.definition.id
        if not readers or any(state.point(key) is None for state in readers):
            yield entry.name, entry.definition.start


def _vacuumed(holds: Sequence[Hold], dry_run: bool) -> dict[str, Any]:
    oldest = min(holds, key=lambda hold: hold.table.version)
    log, since = oldest.log, needs_since(oldest.log, oldest.table.version)
    free = since is None or since > _kept_since(log)
    sql = f"vacuum {table_sql(log.name)}{' dry run' if dry_run else ''}"
    files = _run(log.spark, sql) if free else 0
    return {
        "table": log.name,
        "oldest_version": oldest.table.version,
        "held_by": oldest.holder,
        "needs_since": since,
        "vacuumed": free,
        "files": files if dry_run else None,
    }


def _run(spark: SparkSession, sql: str) -> int:
    """How many rows VACUUM gave. It lists the table's directories in as many tasks as the conf says, 10,000 by default,
    however small the table is."""
    before = str(spark.conf.get(LISTING_TASKS))
    enough = TASKS_PER_CORE * spark.sparkContext.defaultParallelism
    spark.conf.set(LISTING_TASKS, str(min(int(before), enough)))
    try:
        return len(spark.sql(sql).collect())
    finally:
        spark.conf.set(LISTING_TASKS, before)


def needs_since(log: TableLog, version: int) -> datetime | None:
    """Since when VACUUM must have taken nothing for the changes after `version` to be read: since a file was removed,
    or a commit was made that may have written change data files. None where there was no commit."""
    commits = log.commits(version, log.version)
    first = first_removal([action for commit in commits for action in commit.removes])
    moments = [commit.timestamp for commit in commits] + ([] if first is None else [removal_time(first)])
    return min(moments, default=None)


def _kept_since(log: TableLog) -> datetime:
    return datetime.now(timezone.utc) - timedelta(milliseconds=retention(log)[FILE_RETENTION]) + MARGIN
