"""`show_streams`: every stream of the project's schemas, with the fields of the documents' SHOW STREAMS."""

from __future__ import annotations

from typing import Any

from dbt.adapters.streamspark.operate.oldest_offset import oldest_offset
from dbt.adapters.streamspark.operate.scope import Scope, StreamEntry
from dbt.adapters.streamspark.operate.shown import Shown


def show_streams(scope: Scope) -> Shown:
    """Table `streams`: name, created_on, mode, source_type (table or query), base_tables, offset (versions that the
    slowest consumer has read up to), consumers, stale, stale_after, invalid_reason."""
    return Shown(tables={"streams": [_row(scope, entry) for entry in scope.streams]})


def _row(scope: Scope, entry: StreamEntry) -> dict[str, Any]:
    stream = entry.definition
    if stream is None:
        unknown = ("created_on", "mode", "source_type", "base_tables", "offset", "consumers", "stale", "stale_after")
        return {"name": entry.name, **dict.fromkeys(unknown), "invalid_reason": entry.problem}
    offset = oldest_offset(scope, entry)
    return {
        "name": entry.name,
        "created_on": stream.created_on,
        "mode": stream.mode,
        "source_type": "query" if stream.on_query else "table",
        "base_tables": [table.name for table in stream.start.tables],
        "offset": [table.version for table in offset.point.tables],
        "consumers": [state.target for state in offset.consumers],
        "stale": offset.freshness.stale,
        "stale_after": offset.freshness.stale_after,
        "invalid_reason": offset.freshness.reason,
    }
