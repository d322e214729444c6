"""`rewind_consumer`: let a consumer read again from where it stood after an earlier consumption."""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.consume.changes_model import OWN
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.move import REWIND, move
from dbt.adapters.streamspark.consume.planner import interval_text
from dbt.adapters.streamspark.consume.user_metadata import Consumed, read
from dbt.adapters.streamspark.errors import ConsumptionRefused, InvalidArgument, StaleSource
from dbt.adapters.streamspark.operate.consumer_state import ConsumerState
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown
from dbt.adapters.streamspark.streams.freshness import freshness


def rewind_consumer(scope: Scope, name: str, to: int, invocation: str = "") -> Shown:
    """To the offsets after consumption number `to` of consumer_history; 0: those before the first. The target's rows
    stay as they are, and the next run reads the same changes again, with the same row ids. Facts `consumer`, `target`,
    `rewound_to`, `offsets`, `consumption` (the number of the empty consumption that says so), `target_version`.

    Raises UnknownName, InvalidArgument for a number that is not in the target's log, ConsumptionRefused for a
    differential model, StaleSource where a base table has dropped what reading again needs, Fenced, OffsetUnknown.
    """
    log, state = scope.consumer(name)
    _refuse_differential(scope, log, state)
    points, queries = _offsets(log, state, to)
    _check_kept(scope, log, points)
    outcome = move(scope.spark, _consumption(state, points, queries, invocation), REWIND)
    facts = {
        "consumer": state.model,
        "target": log.name,
        "rewound_to": to,
        "offsets": [interval_text(point, point) for point in points.values()] or ["initial rows"],
        "consumption": outcome.consumption.n,
        "target_version": outcome.version,
    }
    return Shown(facts)


def _consumption(
    state: ConsumerState, points: Mapping[str, Frontier], queries: Mapping[str, str], invocation: str
) -> Consumption:
    if state.cursor is None:
        raise state.error()
    return Consumption(
        consumer=state.name,
        target=state.target,
        n=state.cursor.n + 1,
        invocation=invocation,
        reads=(),
        kept=points,
        kept_queries=queries,
        seen=state.cursor.seen,
    )


def _offsets(log: TableLog, state: ConsumerState, to: int) -> tuple[Mapping[str, Frontier], Mapping[str, str]]:
    known = _consumptions(log, state)
    wanted = known.get(max(to, 1)) if isinstance(to, int) and not isinstance(to, bool) else None
    if wanted is None or to < 0:
        there = ", ".join(str(n) for n in sorted(known)) or "none"
        raise InvalidArgument(
            f"to = {to!r}: {log.name} has no such consumption in its log. There are {there} (1: also 0)."
        )
    if to > 0:
        return wanted.frontiers, wanted.queries
    starts = {key: entry.start for key, entry in wanted.entries.items()}
    if OWN in starts and starts[OWN] is None:
        raise ConsumptionRefused(f"{state.name} began with all rows: begin again with dbt run --full-refresh.")
    return {key: start for key, start in starts.items() if start is not None}, {}


def _consumptions(log: TableLog, state: ConsumerState) -> dict[int, Consumed]:
    """By their numbers, those that are still in the log."""
    found = (read(log.commit(version), state.name) for version in range(log.earliest_version(), log.version + 1))
    return {consumed.n: consumed for consumed in found if consumed is not None}


def _refuse_differential(scope: Scope, log: TableLog, state: ConsumerState) -> None:
    """Its target is what its query gave at its offset; changes applied twice would make it something else."""
    columns = {name.lower() for name in scope.spark.table(log.name).columns}
    holds_changes = any(dialect.names[0].lower() in columns for dialect in DIALECTS.values())
    if state.point(OWN) is not None and not holds_changes:
        raise ConsumptionRefused(
            f"{state.name} is a differential model: its rows and its offset go back together, with RESTORE TABLE "
            f"{log.name} TO VERSION AS OF <a target_version of consumer_history>."
        )


def _check_kept(scope: Scope, log: TableLog, points: Mapping[str, Frontier]) -> None:
    modes = {one.definition.id: one.definition.mode for one in scope.streams if one.definition}
    for key, point in points.items():
        fresh = freshness(scope.spark, log.name, point, modes.get(key, "standard"))
        if fresh.stale_after is None:
            raise StaleSource(f"{log.name} cannot read again from there: {fresh.reason}")
