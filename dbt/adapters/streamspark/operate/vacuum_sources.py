"""`vacuum_sources`: VACUUM the base tables of streams, but none of which a cursor needs what VACUUM would take."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.operate.holds import Hold, holds
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown
from dbt.adapters.streamspark.streams.freshness import first_removal, removal_time
from dbt.adapters.streamspark.streams.names import table_sql
from dbt.adapters.streamspark.streams.retention import FILE_RETENTION, retention

LISTING_TASKS = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
TASKS_PER_CORE = 8
MARGIN = timedelta(hours=1)  # VACUUM looks at the clock later than we do


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
    held_by_all, lost = holds(scope)
    tables: dict[str, list[Hold]] = {}
    for hold in held_by_all:
        if wanted is None or hold.table.table_id in wanted:
            tables.setdefault(hold.log.path, []).append(hold)
    rows = [_vacuumed(found, dry_run) for found in tables.values()]
    held = [f"{row['table']} (by {row['held_by']})" for row in rows if not row["vacuumed"]]
    failure = f"left alone, since a cursor needs what VACUUM would take: {', '.join(held)}" if held else ""
    return Shown({"dry_run": dry_run, "lost": lost}, {"tables": rows}, failure=failure)


def _vacuumed(found: Sequence[Hold], dry_run: bool) -> dict[str, Any]:
    oldest = min(found, key=lambda hold: hold.table.version)
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
