"""`preview_consume`: what a consumer's next run would read. Nothing is written."""

from __future__ import annotations

from typing import Any

from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.operate.pending import Pending, pending_of_consumer
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown

TYPES = {"inserts": "insert", "updates": "update_postimage", "deletes": "delete"}


def preview_consume(scope: Scope, name: str) -> Shown:
    """Facts `consumer`, `has_data`; table `streams`: the interval, plan shape, and the rows to insert, update and
    delete (an update counts once), for each stream that the model reads, or its own query. Runs the change queries.

    Raises UnknownName, StaleSource, BrokenSource, OffsetUnknown.
    """
    found = pending_of_consumer(scope, name)
    rows = [{**one.shown(), **_counts(one)} for one in found]
    return Shown(
        {"consumer": scope.reader(name).target, "has_data": any(one.has_data for one in found)}, {"streams": rows}
    )


def _counts(one: Pending) -> dict[str, Any]:
    if not one.has_data:
        return dict.fromkeys(TYPES, 0)
    kind = DIALECTS[one.stream.metadata_columns].change_type
    frame = one.reading.rows().selectExpr(f"{kind} as kind").groupBy("kind").count()
    counted = {row["kind"]: int(row["count"]) for row in frame.collect()}
    return {name: counted.get(kind, 0) for name, kind in TYPES.items()}
