"""The offsets in a stream that are stale, or soon will be: what the test `stream_not_stale` looks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from dbt.adapters.streamspark.literals import literal
from dbt.adapters.streamspark.operate.pending import START
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.streams.freshness import freshness


@dataclass(frozen=True)
class StaleOffset:
    """`target` is the consumer's, or START; `stale_after` is None where something is gone already."""

    target: str
    stale_after: datetime | None
    reason: str


def stale_offsets(scope: Scope, name: str, days: float = 0) -> list[StaleOffset]:
    """Of each consumer of a stream, or of its start while it has none, what goes stale within `days` from now. One that
    does not know its offset counts. Raises UnknownName, BrokenSource."""
    entry = scope.stream(name)
    stream, until = entry.stream, datetime.now(timezone.utc) + timedelta(days=days)
    readers = scope.readers(entry)
    unknown = [StaleOffset(state.target, None, state.problem) for state in readers if state.problem]
    points = {one.target: one.point(stream.id) or stream.start for one in readers if not one.problem}
    fresh = {
        target: freshness(scope.spark, entry.name, point, stream.mode)
        for target, point in (points if readers else {START: stream.start}).items()
    }
    ends = [StaleOffset(target, one.stale_after, one.reason) for target, one in fresh.items()]
    return unknown + [one for one in ends if one.stale_after is None or one.stale_after <= until]


def rows_sql(found: Sequence[StaleOffset]) -> str:
    """A SELECT of them, which gives no row where there are none."""
    nothing = "(cast(null as string), cast(null as string), cast(null as string))"
    rows = [f"({literal(one.target)}, {literal(str(one.stale_after))}, {literal(one.reason)})" for one in found]
    listed = ", ".join(rows) or nothing
    return f"select * from values {listed} as t (target, stale_after, reason) where target is not null"
