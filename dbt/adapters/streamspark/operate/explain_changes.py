"""`explain_changes`: how the changes of a stream, a consumer or any query would be computed. Only logs are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dbt.adapters.streamspark.changes.change_plan import ChangePlan
from dbt.adapters.streamspark.changes.explain import explain, plan_of
from dbt.adapters.streamspark.changes.formats import FORMATS
from dbt.adapters.streamspark.errors import InvalidArgument, UnsupportedQuery
from dbt.adapters.streamspark.operate.pending import Pending, pending_of_consumer, pending_of_stream
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown, one_of
from dbt.adapters.streamspark.streams.on_query import FORMATS as OF_MODES
from dbt.adapters.streamspark.streams.stored_query import reopened, text_of


def explain_changes(
    scope: Scope,
    name: str | None = None,
    query: str | None = None,
    start: Any = None,
    end: Any = None,
    kind: str = "min_delta",
) -> Shown:
    """Of the stream called `name` (for each consumer), of the consumer called so (for each stream that it reads), both
    from the offset to now; or of `query`, which may be a table's name, from `start` to `end` as in `changes()`, as
    change rows of `kind`. Fact `plans`: as JSON the fields of a ChangePlan with `stream` and `target`.

    Raises UnknownName, InvalidArgument, InvalidQuery, UnsupportedQuery, InvalidInterval, StaleSource, BrokenSource.
    """
    if (name is None) == (query is None):
        raise InvalidArgument("give either model (a stream or a consumer) or query, and start with a query")
    if query is not None:
        plan = explain(scope.spark, query, start, end, one_of("kind", kind, list(FORMATS)))
        return Shown({"plans": [plan.to_dict()]}, text=str(plan))
    plans = [(one, _plan(scope, one)) for one in _intervals(scope, str(name))]
    told = [{"stream": one.name, "target": one.target, **plan.to_dict()} for one, plan in plans]
    return Shown({"plans": told}, text="\n\n".join(f"{one.name} for {one.target}\n{plan}" for one, plan in plans))


def _intervals(scope: Scope, name: str) -> Iterator[Pending]:
    entry = next((one for one in scope.streams if one.name == scope.full_name(name)), None)
    yield from pending_of_consumer(scope, name) if entry is None else pending_of_stream(scope, entry, None)


def _plan(scope: Scope, one: Pending) -> ChangePlan:
    mode = one.stream.mode
    if mode == "insert_only":
        raise UnsupportedQuery(f"stream {one.name}: insert_only reads the files that arrived. See stream_backlog.")
    if one.reading.interval is not None:
        return plan_of(one.reading.interval, OF_MODES.get(mode, mode))
    query = reopened(scope.spark, one.name, text_of(one.stream), one.stream.start, one.start)
    since = None if one.start is None else query.frontier(one.start)
    return plan_of(query.interval(since, query.frontier(one.end)), OF_MODES.get(mode, mode))
