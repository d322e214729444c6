"""A consumer that begins with all rows of a stream, in a table where others have put rows before."""

from __future__ import annotations

from dbt.adapters.streamspark.consume.changes_model import OWN
from dbt.adapters.streamspark.consume.planner import Plan
from dbt.adapters.streamspark.errors import ConsumptionRefused
from dbt.adapters.streamspark.streams.left_out import rows_at

DOUBLED = {
    "append": "would be there twice",
    "apply_changes": "would stay where they are gone from the source",
}


def check_begins(plan: Plan, strategy: str) -> None:
    """Raises ConsumptionRefused for a model renamed or of another kind before, which would find its rows doubled, or
    keep what no change takes away. Other strategies say themselves what they replace."""
    begins = [read.stream for read in plan.reads.values() if read.start is None]
    known = plan.cursor.n and OWN not in plan.cursor.frontiers
    if strategy not in DOUBLED or not begins or known or plan.started_over or plan.log is None:
        return
    if rows_at(plan.log, plan.log.version) != 0:
        raise ConsumptionRefused(
            f"table {plan.consumer.target} has rows that {plan.consumer.name} has not taken from a stream. Stream "
            f"{begins[0]} begins with all rows of its base table, beside which those {DOUBLED[strategy]}. Make the "
            "table anew with --full-refresh, or let the stream begin without (show_initial_rows: false)."
        )
