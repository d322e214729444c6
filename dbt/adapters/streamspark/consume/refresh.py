"""Whether a maintained target follows its query's changes or is made anew (notes on performance)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.streamspark.changes.change_query import QueryInterval
from dbt.adapters.streamspark.changes.changes import refuse_fallbacks
from dbt.adapters.streamspark.changes.differentiate.leaves import Leaf
from dbt.adapters.streamspark.changes.explain import table_plan
from dbt.adapters.streamspark.changes.file_changes import EMPTY
from dbt.adapters.streamspark.consume.costs import Costs

# Changed files are read at both ends, and what they touch is looked up at both ends: from here on a rebuild reads less.
MOST = 0.25
# A rebuild gives every row a new id, and whoever reads the target as a stream reads all of it: it has to be worth that.
SPARED_SECONDS, SPARED_SHARE = 10.0, 0.15


@dataclass(frozen=True)
class Refresh:
    """`anew`: the target is computed whole. `reason` is for the log. `changed` is the bytes of changed files at both
    ends."""

    anew: bool
    reason: str
    changed: int = 0


@dataclass(frozen=True)
class Changed:
    """One base table: bytes of the files that differ between the ends, and of all files at both ends, if known."""

    table: str
    changed: int
    whole: int | None

    @property
    def share(self) -> float:
        if not self.changed:
            return 0.0
        return min(1.0, self.changed / self.whole) if self.whole else 1.0


def refresh(asked: str, interval: QueryInterval, costs: Costs) -> Refresh:
    """How to refresh over an interval, `asked` being auto, incremental, strict or full; `costs` are those of the runs
    before. Reads logs; runs no Spark job.

    Raises UnsupportedQuery where `strict` meets a part of the query without a rule.
    """
    if interval.shape == EMPTY:
        return Refresh(False, "no base table changed")
    if asked == "strict":
        refuse_fallbacks(interval)
    tables = [_changed(leaf) for leaf in interval.leaves.values()]
    anew, reason = _by_cost(interval, tables, costs) if asked == "auto" else (asked == "full", f"refresh: {asked}")
    return Refresh(anew, reason, sum(table.changed for table in tables))


def _by_cost(interval: QueryInterval, tables: Sequence[Changed], costs: Costs) -> tuple[bool, str]:
    fallbacks = interval.fallbacks
    if fallbacks:
        return True, f"there is no rule for {fallbacks[0]}"
    most = max(tables, key=lambda table: table.share)
    told = f"files with {most.share:.1%} of the bytes of {most.table} changed"
    if most.share > MOST:
        return True, f"{told}, more than {MOST:.0%}"
    return by_time(costs, tables) or (False, f"{told}, no more than {MOST:.0%}")


def by_time(costs: Costs, tables: Sequence[Changed]) -> tuple[bool, str] | None:
    """Anew, where by what earlier runs took that spares enough; None where it does not or nobody knows."""
    changed = sum(table.changed for table in tables)
    expected = costs.expected(changed, sum(table.whole or 0 for table in tables) // 2)
    if expected is None:
        return None
    by_changes, anew = expected
    if by_changes - anew <= max(SPARED_SECONDS, SPARED_SHARE * anew):
        return None
    return True, f"by the times of earlier runs, that takes {anew:.0f} s, and {by_changes:.0f} s by changes"


def _changed(leaf: Leaf) -> Changed:
    plan = table_plan(leaf)
    known = leaf.interval.log.size(leaf.interval.end)
    touched = plan.bytes_at_start + plan.bytes_at_end
    return Changed(leaf.table.name, touched, None if known is None else 2 * known[1])
