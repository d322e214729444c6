"""`consumer_history`: what was consumed into a table, newest first, told by its own log."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from dbt.adapters.streamspark.changes.log import Commit, TableLog
from dbt.adapters.streamspark.consume.cursor import REWINDS
from dbt.adapters.streamspark.consume.planner import interval_text
from dbt.adapters.streamspark.consume.user_metadata import Consumed, read
from dbt.adapters.streamspark.errors import InvalidArgument
from dbt.adapters.streamspark.operate.consumer_state import ConsumerState
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown

METRICS = {
    "rows_written": "numOutputRows",
    "rows_updated": "numTargetRowsUpdated",
    "rows_deleted": "numTargetRowsDeleted",
}


def consumer_history(scope: Scope, name: str, limit: int = 20) -> Shown:
    """Facts `consumer` (the model's id), `target`; table `history`, of at most `limit` rows: target_version, time,
    consumption (its number), action (consume, advance, rewind, keep, or a RESTORE, CLONE or REPLACE), streams (the
    interval of each), operation, rows_written, rows_updated, rows_deleted, invocation. It ends where the log does.

    Where the table does not know its offset any more, it tells which version to restore. Raises UnknownName,
    InvalidArgument.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidArgument(f"limit = {limit!r} is not allowed: a whole number, 1 or more.")
    log, state = scope.any_consumer(name)
    rows = list(islice(_rows(log, state), limit))
    return Shown({"consumer": state.model, "target": state.target}, {"history": rows})


def _rows(log: TableLog, state: ConsumerState) -> Iterator[dict[str, Any]]:
    for version in range(log.version, log.earliest_version() - 1, -1):
        commit = log.commit(version)
        consumed = read(commit, state.name)
        if consumed is not None or commit.operation in REWINDS:
            yield _row(commit, consumed)


def _row(commit: Commit, consumed: Consumed | None) -> dict[str, Any]:
    metrics = commit.info.get("operationMetrics") or {}
    return {
        "target_version": commit.version,
        "time": commit.timestamp,
        "consumption": consumed.n if consumed else None,
        "action": consumed.action if consumed else commit.operation,
        "streams": _streams(consumed) if consumed else [],
        "operation": commit.operation,
        **{name: int(metrics[key]) if key in metrics else None for name, key in METRICS.items()},
        "invocation": consumed.invocation if consumed else None,
    }


def _streams(consumed: Consumed) -> list[str]:
    """Each stream's name with its interval; one that the run did not read is left out."""
    return [
        f"{entry.name or 'offset'}: {interval_text(entry.start, consumed.frontiers[key])}"
        for key, entry in consumed.entries.items()
        if entry.name or consumed.action != "consume"
    ]
