"""Whether a maintained target follows its query's changes or is made anew (decision 0027)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.streamspark.changes.change_query import QueryInterval
from dbt.adapters.streamspark.changes.changes import refuse_fallbacks
from dbt.adapters.streamspark.changes.file_changes import EMPTY
from dbt.adapters.streamspark.consume.assumed import Assumed, assumed
from dbt.adapters.streamspark.consume.changed import Changed, changed
from dbt.adapters.streamspark.consume.costs import Costs
from dbt.adapters.streamspark.consume.guess import fixed, guess

# Changed files are read at both ends, and what they touch is looked up at both ends: from here on a rebuild reads less.
MOST = 0.25
# What a rebuild has to spare of its own time, and how many seconds where the target is followed: it gives every row a
# new id, and whoever reads the target as a stream reads all of it.
SPARED_SHARE, SPARED_SECONDS = 0.05, 10.0
# Where a base table changed by more than this share the followers read a good part anyway; a rebuild has to spare these
# seconds then, so that small tables, of which any change is much, keep their ids.
MUCH, SPARED_OF_MUCH = 0.05, 2.0
# How many where no run by changes has shown what it takes and all base tables have no more than so many bytes: there a
# guess is right within a few seconds at best, and a try takes no more. Of larger ones it is believed, and as much of
# the rebuild's time staked as a try may take more; of small ones, too, if much of them changed and nobody follows.
SPARED_BY_GUESS, SMALL, STAKED_SHARE = 5.0, 16 * 1024 * 1024, 0.15


@dataclass(frozen=True)
class Refresh:
    """`anew`: the target is computed whole. `reason` is for the log. `changed` is the bytes that changed, of
    all base tables, as in Changed."""

    anew: bool
    reason: str
    changed: int = 0


def refresh(asked: str, interval: QueryInterval, costs: Costs, followed: bool, added: bool = False) -> Refresh:
    """How to refresh over an interval, `asked` being auto, incremental, strict or full; `costs` are those of the runs
    before; `followed`: somebody may read the target's changes; `added`: changes are added to its groups. Reads logs;
    runs no Spark job.

    Raises UnsupportedQuery where `strict` meets a part of the query without a rule.
    """
    if interval.shape == EMPTY:
        return Refresh(False, "no base table changed")
    if asked == "strict":
        refuse_fallbacks(interval)
    tables = [changed(leaf) for leaf in interval.leaves.values()]
    said = (asked == "full", f"refresh: {asked}")
    anew, reason = _by_cost(interval, tables, costs, followed, added) if asked == "auto" else said
    return Refresh(anew, reason, sum(table.changed for table in tables))


def _by_cost(
    interval: QueryInterval, tables: Sequence[Changed], costs: Costs, followed: bool, added: bool
) -> tuple[bool, str]:
    fallbacks = interval.fallbacks
    if fallbacks:
        return True, f"there is no rule for {fallbacks[0]}"
    most = max(tables, key=lambda table: table.share)
    told = f"{most.share:.1%} of the bytes of {most.table} changed"
    if most.share > MOST:
        return True, f"{told}, more than {MOST:.0%}"
    assume = assumed(interval.lowered.root, added, interval.many)
    return by_time(costs, tables, followed, assume) or (False, f"{told}, no more than {MOST:.0%}")


def by_time(costs: Costs, tables: Sequence[Changed], followed: bool, assume: Assumed) -> tuple[bool, str] | None:
    """By what earlier runs took: anew where that spares enough, or the way that took longer, where it is worth another
    look. None where it does not spare enough, or nobody knows."""
    whole = sum(table.whole or 0 for table in tables) // 2
    if costs.anew is None or not whole:
        return None
    anew, known = costs.anew.scaled(whole), costs.by_changes
    size = sum(table.changed for table in tables)
    by_changes = guess(tables, anew, assume) if known is None else known.of_changes(size, fixed(tables))
    some = "some " if known is None else ""
    told = f"by the times of earlier runs, that takes {anew:.1f} s, and {some}{by_changes:.1f} s by changes"
    if by_changes - anew > _to_spare(anew, tables, followed, known is None):
        why = costs.look_at_changes(by_changes, anew)
        return (False, f"{told}, which {why}") if why else (True, told)
    tried_first = followed or (known is None and not _is_believed(tables, followed))
    why = "" if tried_first else costs.look_at_anew(anew, by_changes, assume.cold)
    return (True, f"{told}, but it {why}") if why else None


def _to_spare(anew: float, tables: Sequence[Changed], followed: bool, guessed: bool) -> float:
    """The seconds that a rebuild has to spare."""
    least = SPARED_SHARE * anew
    if followed:
        least = max(least, SPARED_OF_MUCH if _is_much(tables) else SPARED_SECONDS)
    if guessed:
        least = max(least, STAKED_SHARE * anew if _is_believed(tables, followed) else SPARED_BY_GUESS)
    return least


def _is_much(tables: Sequence[Changed]) -> bool:
    return max(table.share for table in tables) > MUCH


def _is_believed(tables: Sequence[Changed], followed: bool) -> bool:
    """Whether a guess is. Of small tables either way takes little more than what is fixed, and followers gain by ids
    that stay."""
    small = sum(table.whole or 0 for table in tables) <= 2 * SMALL
    return not small or (_is_much(tables) and not followed)
