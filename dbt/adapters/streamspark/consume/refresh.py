"""Whether a maintained target follows its query's changes or is made anew (notes on performance)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.streamspark.changes.change_query import QueryInterval
from dbt.adapters.streamspark.changes.changes import refuse_fallbacks
from dbt.adapters.streamspark.changes.differentiate.leaves import Leaf
from dbt.adapters.streamspark.changes.file_changes import EMPTY, FileChanges
from dbt.adapters.streamspark.changes.log import Action
from dbt.adapters.streamspark.changes.marked_rows import marked_share
from dbt.adapters.streamspark.changes.table_plan import bytes_of
from dbt.adapters.streamspark.consume.costs import Costs, worth_a_look

# Changed files are read at both ends, and what they touch is looked up at both ends: from here on a rebuild reads less.
MOST = 0.25
# What a rebuild has to spare of its own time, and how many seconds where the target is followed: it gives every row a
# new id, and whoever reads the target as a stream reads all of it.
SPARED_SHARE, SPARED_SECONDS = 0.05, 10.0
# Where a base table changed by more than this share the followers read a good part anyway; a rebuild has to spare these
# seconds then, so that small tables, of which any change is much, keep their ids.
MUCH, SPARED_OF_MUCH = 0.05, 2.0
# How many where no run by changes has shown what it takes: a guess is right within a few seconds at best. So much is
# staked on a try of at most so many bytes, which takes little more than what is fixed; of more bytes, or a good part of
# a table, it may take several times as long as a rebuild, and nothing is staked, unless the target is followed.
SPARED_BY_GUESS, LITTLE = 5.0, 1024 * 1024


@dataclass(frozen=True)
class Refresh:
    """`anew`: the target is computed whole. `reason` is for the log. `changed` is the bytes that changed, of
    all base tables, as in Changed."""

    anew: bool
    reason: str
    changed: int = 0


@dataclass(frozen=True)
class Changed:
    """One base table: the bytes that `changed`, which are those of the files at one end only, and of others the part
    whose rows another deletion vector hides; and the bytes of all files at both ends, if known."""

    table: str
    changed: int
    whole: int | None

    @property
    def share(self) -> float:
        if not self.changed:
            return 0.0
        return min(1.0, self.changed / self.whole) if self.whole else 1.0


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
    tables = [_changed(leaf) for leaf in interval.leaves.values()]
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
    return by_time(costs, tables, followed, added) or (False, f"{told}, no more than {MOST:.0%}")


def by_time(costs: Costs, tables: Sequence[Changed], followed: bool, added: bool = False) -> tuple[bool, str] | None:
    """By what earlier runs took: anew where that spares enough, or the way that took longer, where it is worth another
    look. None where it does not spare enough, or nobody knows."""
    changed = sum(table.changed for table in tables)
    expected = costs.expected(changed, sum(table.whole or 0 for table in tables) // 2, added)
    if expected is None:
        return None
    by_changes, anew = expected
    guessed = costs.by_changes is None
    told = (
        f"by the times of earlier runs, that takes {anew:.1f} s, and {'some ' * guessed}{by_changes:.1f} s by changes"
    )
    spared = by_changes - anew
    much = max(table.share for table in tables) > MUCH
    seconds = SPARED_OF_MUCH if much else SPARED_SECONDS
    too_little = spared <= SPARED_SHARE * anew or (followed and spared <= seconds)
    staked = SPARED_BY_GUESS if followed or (changed <= LITTLE and not much) else 0.0
    if guessed and (too_little or spared <= staked):
        return None
    if too_little:
        why = "" if followed else worth_a_look(costs.anew, anew, by_changes)
        return (True, f"{told}, but it {why}") if why else None
    why = worth_a_look(costs.by_changes, by_changes, anew)
    return (False, f"{told}, which {why}") if why else (True, told)


def _changed(leaf: Leaf) -> Changed:
    known = leaf.interval.log.size(leaf.interval.end)
    return Changed(leaf.table.name, _touched(leaf.interval.files), None if known is None else 2 * known[1])


def _touched(files: FileChanges) -> int:
    return bytes_of([*files.old, *files.new]) + sum(_marked(old, new) for old, new in files.remarked)


def _marked(old: Action, new: Action) -> int:
    """A few deleted rows in each file are no change of every file: only they are compared. Where nobody knows how many
    there are, the file is read whole at both ends."""
    share = marked_share(old, new)
    return bytes_of([old, new]) if share is None else round(share * bytes_of([new]))
