"""A consumer that begins with all rows of a stream, in a table where rows are that others have put there, or itself."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.consume.changes_model import OWN
from dbt.adapters.streamspark.consume.planner import Plan
from dbt.adapters.streamspark.errors import ConsumptionRefused
from dbt.adapters.streamspark.streams.left_out import rows_at

DOUBLED = {
    "append": "would be there twice",
    "apply_changes": "would stay where they are gone from the source",
}


def check_begins(plan: Plan, strategy: str) -> None:
    """Raises ConsumptionRefused for a model renamed or of another kind before, or whose stream was made anew: it would
    find its rows doubled, or keep what no change takes away. Other strategies say themselves what they replace."""
    begins = {read.stream: read.end for read in plan.reads.values() if read.start is None}
    if strategy not in DOUBLED or not begins or plan.started_over or plan.log is None:
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


def _was_read(plan: Plan, end: Frontier) -> bool:
    """Whether the consumer has read the same tables by a stream that its model reads no more."""
    left = (reached for stream, reached in plan.cursor.frontiers.items() if stream not in {*plan.reads, OWN})
    return any(reached.entry(table.table_id, table.name) for reached in left for table in end.tables)
