"""`stream_backlog`: the commits that a consumer has not read yet, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt.adapters.streamspark.changes.file_changes import changes_data
from dbt.adapters.streamspark.changes.log import Commit
from dbt.adapters.streamspark.operate.pending import Pending, pending_of_stream
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown

# What Delta's operations call their counts; the first that is there counts.
METRICS = {
    "rows_inserted": ("numTargetRowsInserted", "numOutputRows"),
    "rows_updated": ("numTargetRowsUpdated", "numUpdatedRows"),
    "rows_deleted": ("numTargetRowsDeleted", "numDeletedRows"),
}
INSERTS = (
    "WRITE",
    "MERGE",
    "STREAMING UPDATE",
    "CREATE TABLE AS SELECT",
    "CREATE OR REPLACE TABLE AS SELECT",
    "COPY INTO",
)


def stream_backlog(scope: Scope, name: str, consumer: str | None = None) -> Shown:
    """Of `consumer`, or of the consumer that has most to read, or of a new one where there is none. Facts `stream`,
    `consumer`, `versions`, `files`, `bytes` (added and removed); table `backlog`: base_table, version, time, operation,
    rows_inserted, rows_updated, rows_deleted (as the commit tells them, None where it does not), files_added,
    files_removed, bytes_added, changes_data.

    Raises UnknownName, StaleSource, BrokenSource, OffsetUnknown.
    """
    entry = scope.stream(name)
    found = max(pending_of_stream(scope, entry, consumer), key=lambda one: len(list(_commits(one))))
    rows = [_row(table, commit) for table, commit in _commits(found)]
    facts = {
        "stream": entry.name,
        "consumer": found.target,
        "versions": len(rows),
        "files": sum(row["files_added"] + row["files_removed"] for row in rows),
        "bytes": sum(row["bytes_added"] for row in rows),
        "shape": found.reading.shape,
    }
    return Shown(facts, {"backlog": rows})


def _commits(found: Pending) -> Iterator[tuple[str, Commit]]:
    for log in found.opened.logs:
        since = found.since(log)
        for commit in log.commits(log.version if since is None else since, log.version):
            yield log.name, commit


def _row(table: str, commit: Commit) -> dict[str, Any]:
    metrics = commit.info.get("operationMetrics") or {}
    return {
        "base_table": table,
        "version": commit.version,
        "time": commit.timestamp,
        "operation": commit.operation,
        **{name: _count(commit.operation, name, metrics) for name in METRICS},
        "files_added": len(commit.adds),
        "files_removed": len(commit.removes),
        "bytes_added": sum(int(add.get("size") or 0) for add in commit.adds),
        "changes_data": changes_data(commit),
    }


def _count(operation: str, name: str, metrics: Mapping[str, str]) -> int | None:
    """numOutputRows counts copied rows too, where the operation is no insert."""
    known = [key for key in METRICS[name] if key in metrics and (key != "numOutputRows" or operation in INSERTS)]
    return int(metrics[known[0]]) if known else None
