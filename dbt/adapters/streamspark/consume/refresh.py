"""Whether a maintained target follows its query's changes or is made anew (notes on performance)."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.streamspark.changes.change_query import QueryInterval
from dbt.adapters.streamspark.changes.changes import refuse_fallbacks
from dbt.adapters.streamspark.changes.differentiate.leaves import Leaf
from dbt.adapters.streamspark.changes.explain import table_plan
from dbt.adapters.streamspark.changes.file_changes import EMPTY

# Changed files are read at both ends, and what they touch is looked up at both ends: from here on a rebuild reads less.
MOST = 0.25


@dataclass(frozen=True)
class Refresh:
    """`anew`: the target is computed whole. `reason` is for the log."""

    anew: bool
    reason: str


def refresh(asked: str, interval: QueryInterval) -> Refresh:
    """How to refresh over an interval, `asked` being auto, incremental, strict or full. Reads logs; runs no Spark job.

    Raises UnsupportedQuery where `strict` meets a part of the query without a rule.
    """
    if interval.shape == EMPTY:
        return Refresh(False, "no base table changed")
    if asked == "strict":
        refuse_fallbacks(interval)
    return _by_cost(interval) if asked == "auto" else Refresh(asked == "full", f"refresh: {asked}")


def _by_cost(interval: QueryInterval) -> Refresh:
    fallbacks = interval.fallbacks
    if fallbacks:
        return Refresh(True, f"there is no rule for {fallbacks[0]}")
    shares = {leaf.table.name: _changed(leaf) for leaf in interval.leaves.values()}
    table, share = max(shares.items(), key=lambda item: item[1])
    told = f"files with {share:.1%} of the bytes of {table} changed"
    return Refresh(share > MOST, f"{told}, {'more' if share > MOST else 'no more'} than {MOST:.0%}")


def _changed(leaf: Leaf) -> float:
    """The bytes of a table's files that differ between the ends, over those of both ends."""
    plan = table_plan(leaf)
    touched = plan.bytes_at_start + plan.bytes_at_end
    if not touched:
        return 0.0
    known = leaf.interval.log.size(leaf.interval.end)
    both = 2 * known[1] if known is not None else 0
    return min(1.0, touched / both) if both else 1.0
