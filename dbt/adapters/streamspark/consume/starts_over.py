"""Which models may start over when their stream is stale, and how."""

from __future__ import annotations

from dbt.adapters.streamspark.consume.planner import Plan
from dbt.adapters.streamspark.errors import StaleSource
from dbt.adapters.streamspark.streams.config import REBASE
from dbt.adapters.streamspark.streams.consumers import asks_is_incremental


def check_starts_over(plan: Plan, code: str, is_copy: bool) -> None:
    """`code` is the model's own text. `is_copy`: its table is kept equal to what it reads, by key, with no history.

    Raises StaleSource, with why it is stale and what to do, for a model that cannot start over.
    """
    why = ""
    if asks_is_incremental(code):
        why = "the model's text asks is_incremental(), which was answered before it was known"
    elif plan.started_over == REBASE and not is_copy:
        why = "a rebase needs incremental_strategy='apply_changes' without a history; full_refresh does without"
    if why:
        raise StaleSource(
            f"{plan.why} on_stale: {plan.started_over} cannot help {plan.consumer.target}: {why}. Run it with "
            "--full-refresh."
        )
