"""Queries at the point up to which a target has consumed: what the target must hold, in plain SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.changes_model import OWN
from dbt.adapters.streamspark.consume.cursor import Cursor, resolve_cursor
from dbt.adapters.streamspark.errors import InvalidQuery, StaleSource
from dbt.adapters.streamspark.streams.names import table_sql
from dbt.adapters.streamspark.streams.stored_query import reopened, version_in


def newest_cursor(log: TableLog) -> Cursor:
    """Where the last consumer of a table stands; nowhere, if there never was one. Raises OffsetUnknown."""
    for version in range(log.version, log.earliest_version() - 1, -1):
        body = _body(log, version)
        if body:
            return resolve_cursor(log, str(body["consumer"]))
    return Cursor(0)


def _body(log: TableLog, version: int) -> dict[str, Any]:
    try:
        found = json.loads(log.commit(version).info.get("userMetadata") or "{}")
    except ValueError:
        return {}
    return dict(found.get("streamspark", {})) if isinstance(found, dict) else {}


def reached(cursor: Cursor) -> dict[str, int]:
    """Version by table name, of all streams together."""
    return {table.name: table.version for point in cursor.frontiers.values() for table in point.tables}


def own_query(spark: SparkSession, log: TableLog) -> str:
    """The query of a changes or differential model at its cursor. Raises InvalidQuery for another table."""
    cursor = newest_cursor(log)
    if OWN not in cursor.queries:
        raise InvalidQuery(
            f"{log.name} is neither a changes nor a differential model: say which query it is to equal (argument query)"
        )
    return _at(spark, log.name, cursor.queries[OWN], cursor.frontiers[OWN])


def begin(spark: SparkSession, log: TableLog) -> str | None:
    """The rows that a changes model's query had before the first change in its table: what the newest CREATE says,
    which a full refresh is too. None for no rows, and for another table. Raises StaleSource."""
    known = False
    for version in range(log.version, log.earliest_version() - 1, -1):
        entry = _own_entry(log, version)
        known = known or entry is not None
        if entry is not None and log.commit(version).operation.startswith("CREATE"):
            point = entry["from"]
            return None if point is None else _at(spark, log.name, entry["query"], Frontier.from_dict(point))
    if known:
        raise StaleSource(
            f"table {log.name}: its first run is no longer in its log: say what it began with (start_from)"
        )
    return None


def _own_entry(log: TableLog, version: int) -> dict[str, Any] | None:
    return _body(log, version).get("streams", {}).get(OWN)


def _at(spark: SparkSession, name: str, text: str, point: Frontier) -> str:
    return query_at(reopened(spark, name, text, point), [point])


def query_at(query: ChangeQuery, points: Iterable[Frontier]) -> str:
    """The query with every base table at the version that one of the points holds, others as they are now."""
    known = list(points)
    return query.written(lambda log: f"(select * from {table_sql(log.name)}{_newest(log, known)})")


def _newest(log: TableLog, points: Sequence[Frontier]) -> str:
    versions = [version for point in points if (version := version_in(log, point)) is not None]
    return f" version as of {max(versions)}" if versions else ""
