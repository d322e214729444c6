"""`describe_stream`: all that is known of one stream, with the fields of document 003's DESC TABLE STREAM."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import StreamsparkError
from dbt.adapters.streamspark.operate.consumer_state import ConsumerState
from dbt.adapters.streamspark.operate.oldest_offset import oldest_offset
from dbt.adapters.streamspark.operate.scope import Scope, StreamEntry
from dbt.adapters.streamspark.operate.shown import Shown
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.freshness import freshness
from dbt.adapters.streamspark.streams.names import table_sql
from dbt.adapters.streamspark.streams.retention import DAY, FILE_RETENTION, LOG_RETENTION, retention
from dbt.adapters.streamspark.streams.source import open_table

NOW = ("newest_version", "newest_time", "keeps_files_days", "keeps_log_days")


def describe_stream(scope: Scope, name: str) -> Shown:
    """Facts: the document's fields, then ours. `offset` and what begins with `current_offset` are of the slowest
    consumer, or of the stream's start while nothing has read it. Tables `base_table_details` and `consumers`.

    Raises UnknownName, BrokenSource for a damaged definition.
    """
    entry = scope.stream(name)
    stream = entry.stream
    offset = oldest_offset(scope, entry)
    facts = {
        **_of_view(scope, entry.name, stream),
        "base_tables": [table.name for table in stream.start.tables],
        "stale": offset.freshness.stale,
        "offset": _position(offset.point),
        "current_offset_time": offset.point.timestamp,
        "current_offset_version": _versions(offset.point),
        "stale_after": offset.freshness.stale_after,
        "stale_reason": offset.freshness.reason,
        **_of_definition(stream),
    }
    tables = {
        "base_table_details": [_table(scope, entry, place) for place in range(len(stream.start.tables))],
        "consumers": [_consumer(scope, entry, stream, state) for state in offset.consumers],
    }
    return Shown(facts, tables)


def _of_view(scope: Scope, name: str, stream: StreamDefinition) -> dict[str, Any]:
    """What the catalog says of the view."""
    rows = scope.spark.sql(f"describe extended {table_sql(name)}").collect()
    about = {row["col_name"]: row["data_type"] for row in rows}
    altered = scope.spark.sql(f"show tblproperties {table_sql(name)}").collect()
    seconds = next((row["value"] for row in altered if row["key"] == "transient_lastDdlTime"), None)
    return {
        "name": name.rpartition(".")[2],
        "creator": about.get("Owner"),
        "created_time": datetime.fromisoformat(stream.created_on),
        "last_modified_time": None if seconds is None else datetime.fromtimestamp(int(seconds), tz=timezone.utc),
        "workspace": name.rpartition(".")[0],
        "comment": about.get("Comment"),
    }


def _of_definition(stream: StreamDefinition) -> dict[str, Any]:
    return {
        "mode": stream.mode,
        "show_initial_rows": stream.show_initial_rows,
        "unique_key": list(stream.unique_key),
        "metadata_columns": stream.metadata_columns,
        "source_type": "query" if stream.on_query else "table",
        "start": stream.start_point,
        "start_version": _versions(stream.start),
        "start_time": stream.start.timestamp,
        "id": stream.id,
        "query": stream.query,
    }


def _table(scope: Scope, entry: StreamEntry, place: int) -> dict[str, Any]:
    """One base table as it is now; the reason in `problem` where it cannot be opened."""
    start = entry.stream.start
    table = start.tables[place]
    try:
        now = _now(open_table(scope.spark, entry.name, table, start.timestamp))
    except StreamsparkError as error:
        now = {**dict.fromkeys(NOW), "problem": str(error)}
    return {"table": table.name, "start_version": table.version, **now}


def _now(log: TableLog) -> dict[str, Any]:
    kept = retention(log)
    return {
        "newest_version": log.version,
        "newest_time": log.commit(log.version).timestamp,
        "keeps_files_days": round(kept[FILE_RETENTION] / DAY, 2),
        "keeps_log_days": round(kept[LOG_RETENTION] / DAY, 2),
        "problem": "",
    }


def _consumer(scope: Scope, entry: StreamEntry, stream: StreamDefinition, state: ConsumerState) -> dict[str, Any]:
    point = state.point(stream.id)
    fresh = None if point is None else freshness(scope.spark, entry.name, point, stream.mode)
    return {
        "target": state.target,
        "model": state.model,
        "consumption": state.cursor.n if state.cursor else None,
        "offset_version": None if point is None else _versions(point),
        "offset_time": None if point is None else point.timestamp,
        "committed_at": state.committed_at,
        "stale": None if fresh is None else fresh.stale,
        "stale_after": None if fresh is None else fresh.stale_after,
        "problem": state.problem or (fresh.reason if fresh else ""),
    }


def _position(point: Frontier) -> str:
    return ", ".join(f"version {table.version} of {table.name}" for table in point.tables)


def _versions(point: Frontier) -> int | Sequence[int]:
    """One number for one table, a list in the order of the base tables for several."""
    versions = [table.version for table in point.tables]
    return versions[0] if len(versions) == 1 else versions
