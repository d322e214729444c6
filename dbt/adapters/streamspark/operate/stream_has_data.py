"""`stream_has_data`: whether a run would find something to consume, asked as the run itself asks it."""

from __future__ import annotations

from dbt.adapters.streamspark.consume.keep_alive import keep_alive
from dbt.adapters.streamspark.operate.pending import Pending, consumption_of, pending_of_stream
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown


def stream_has_data(
    scope: Scope, name: str, consumer: str | None = None, fail_when_empty: bool = True, invocation: str = ""
) -> Shown:
    """Facts `stream` and `has_data`; table `consumers`: the interval and plan shape of each, or of `consumer` alone.
    Without data it fails, for schedulers, unless told not to. A consumer that has nothing to read keeps its offset by
    an empty commit where that gets old (keep_alive.py), so that asking regularly keeps a quiet stream from going stale.

    Changes that undo each other count as data: no row is read. Raises UnknownName, StaleSource, BrokenSource,
    OffsetUnknown.
    """
    entry = scope.stream(name)
    found = pending_of_stream(scope, entry, consumer)
    has_data = any(one.has_data for one in found)
    for one in found:
        if not one.has_data:
            _keep_fresh(scope, one, invocation)
    rows = [{**one.shown(), "has_data": one.has_data} for one in found]
    failure = "" if has_data or not fail_when_empty else f"stream {entry.name} has no data"
    return Shown({"stream": entry.name, "has_data": has_data}, {"consumers": rows}, failure=failure)


def _keep_fresh(scope: Scope, empty: Pending, invocation: str) -> None:
    if empty.state is not None:
        keep_alive(scope.spark, consumption_of(empty, invocation))
