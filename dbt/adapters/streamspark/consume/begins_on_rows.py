"""A consumer that begins to read a stream, in a table where rows are that others have put there, or itself."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.changes_model import OWN
from dbt.adapters.streamspark.consume.cursor import resolve_cursor
from dbt.adapters.streamspark.consume.planner import Plan
from dbt.adapters.streamspark.errors import ConsumptionRefused, OffsetUnknown
from dbt.adapters.streamspark.streams.consumers import PREFIX, consumer_names
from dbt.adapters.streamspark.streams.left_out import rows_at

DOUBLED = {
    "append": "would be there twice",
    "apply_changes": "would stay where they are gone from the source",
}


def check_begins(plan: Plan, strategy: str) -> None:
    """Raises ConsumptionRefused for a model renamed or of another kind before, or whose stream was made anew: it would
    find its rows doubled, or keep what no change takes away. Other strategies say themselves what they replace."""
    if strategy not in DOUBLED or plan.started_over or plan.log is None:
        return
    _check_renamed(plan, plan.log, DOUBLED[strategy])
    begins = {read.stream: read.end for read in plan.reads.values() if read.start is None}
    if not begins:
        return
    name, anew = plan.consumer.name, [stream for stream, end in begins.items() if _was_read(plan, end)]
    if plan.cursor.n and OWN not in plan.cursor.frontiers and not anew:
        return
    if rows_at(plan.log, plan.log.version) != 0:
        whose = f"took from {anew[0]} before that stream was made anew" if anew else "has not taken from a stream"
        raise ConsumptionRefused(
            f"table {plan.consumer.target} has rows that {name} {whose}. Stream {[*anew, *begins][0]} begins with all "
            f"rows of its base table, beside which those {DOUBLED[strategy]}. Make the table anew with --full-refresh, "
            "or let the stream begin without (show_initial_rows: false)."
        )


def _check_renamed(plan: Plan, log: TableLog, doubled: str) -> None:
    """Raises ConsumptionRefused for a model whose table another one has filled from the same stream: what that one has
    read would be read once more."""
    if plan.cursor.n:
        return
    others = (name for name in consumer_names(log) if name != plan.consumer.name)
    found = next((name for name in others if _reads(log, name) & {*plan.reads}), None)
    if found is not None and rows_at(log, log.version) != 0:
        raise ConsumptionRefused(
            f"table {plan.consumer.target} has rows that {found} took from a stream that {plan.consumer.name} begins "
            f"to read, beside which those {doubled}. If it is the same model by another name, go on with consumer: "
            f"{found.removeprefix(PREFIX)} in its config; else make the table anew with --full-refresh."
        )


def _reads(log: TableLog, consumer: str) -> set[str]:
    try:
        return {*resolve_cursor(log, consumer).frontiers}
    except OffsetUnknown:
        return set()


def skipped(plan: Plan) -> list[str]:
    """For each table that was read up to an earlier version, by a stream that is read no more, than a stream begins at
    which is read instead: that the changes between are left out."""
    begun = [read for key, read in plan.reads.items() if key not in plan.cursor.frontiers]
    starts = [(read.stream, read.start.tables) for read in begun if read.start is not None]
    return [
        f"{plan.consumer.target} has {table.name} up to version {reached.version}, by a stream that its model reads no "
        f"more, and stream {stream} begins at version {table.version}: the changes between are left out."
        + (_way_out(reached) if len(tables) == 1 else "")
        for stream, tables in starts
        for table in tables
        for reached in _left(plan, table)
        if reached.version < table.version
    ]


def _way_out(reached: TableVersion) -> str:
    return f" To have them, set at={{'version': {reached.version}}} in the stream and make it anew with --full-refresh."


def _was_read(plan: Plan, end: Frontier) -> bool:
    """Whether the consumer has read the same tables by a stream that its model reads no more."""
    return any(_left(plan, table) for table in end.tables)


def _left(plan: Plan, table: TableVersion) -> list[TableVersion]:
    """Up to where the consumer has read a table by streams that its model reads no more."""
    left = (reached for stream, reached in plan.cursor.frontiers.items() if stream not in {*plan.reads, OWN})
    entries = (reached.entry(table.table_id, table.name) for reached in left)
    return [entry for entry in entries if entry is not None]
