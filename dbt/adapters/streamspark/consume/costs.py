"""What the runs of a maintained model took, carried from commit to commit (decision 0027)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

FIXED = 2.5  # seconds of a run by changes, however little has changed
# A byte that changed takes about so many times as long as one that a rebuild reads: it is read, looked up at the far
# ends, merged and committed; fewer where it is added to the target's groups, which reads no group again.
PER_BYTE, PER_BYTE_ADDED = 12.0, 6.0
# Up to so many bytes of changes starting jobs is what takes the time: a run by some marked rows, a few hundred bytes,
# does not tell that a thousand times as many take a thousand times as long.
FEW = 16 * 1024 * 1024
# What ran once may have been slow for other reasons than what it did: a cold JVM, a busy machine. It is
# worth another look where that takes at most so many times what the other takes, and at most so many seconds longer.
LOOK_SHARE, LOOK_SECONDS = 2.0, 10.0
# So is what has not run for so many runs, since tables grow and machines change; there it may take less.
LONG_AGO, LOOK_AGAIN_SHARE = 10, 1.5


@dataclass(frozen=True)
class Took:
    """`seconds` from planning to commit, for `size` bytes: those of the base tables, or those that changed. So many
    `runs` of its kind there have been, and so many of the other `since`."""

    seconds: float
    size: int
    runs: int = 1
    since: int = 0

    def scaled(self, size: int) -> float:
        """The seconds for another size."""
        return self.seconds * size / self.size if self.size else self.seconds

    def to_list(self) -> list[float]:
        return [round(self.seconds, 2), self.size, self.runs, self.since]


@dataclass(frozen=True)
class Costs:
    """The newest run of either kind, where there was one."""

    anew: Took | None = None
    by_changes: Took | None = None

    def expected(self, changed: int, whole: int, added: bool = False) -> tuple[float, float] | None:
        """Seconds by changes, which are `added` to the target's groups or not, and anew, for so many bytes; None where
        not both are known, or could be guessed.

        >>> Costs(Took(60, 1000)).expected(100, 1000), Costs(Took(60, 1000)).expected(100, 1000, added=True)
        ((74.5, 60.0), (38.5, 60.0))
        >>> Costs(Took(60, 1000), Took(40, 2 * FEW)).expected(4 * FEW, 1000)
        (80.0, 60.0)
        >>> Costs(Took(60, 1000), Took(40, 2 * FEW)).expected(1, 2000)
        (2.5, 120.0)
        >>> Costs(Took(60, 1000), Took(4, 100)).expected(FEW, 1000)
        (4.0, 60.0)
        """
        if self.anew is None:
            return None
        if self.by_changes is None:
            anew = self.anew.scaled(whole)
            per_byte = PER_BYTE_ADDED if added else PER_BYTE
            return (FIXED + per_byte * anew * changed / whole, anew) if whole else None
        least = min(self.by_changes.seconds, FIXED)
        known = replace(self.by_changes, size=max(self.by_changes.size, min(changed, FEW)))
        return max(least, known.scaled(changed)), self.anew.scaled(whole)

    def to_dict(self) -> dict[str, list[float]]:
        both = {"anew": self.anew, "by_changes": self.by_changes}
        return {kind: took.to_list() for kind, took in both.items() if took is not None}


def worth_a_look(took: Took | None, seconds: float, other: float) -> str:
    """Why what takes `seconds` by its newest run should run once more although the `other` way takes less; empty where
    it should not.

    >>> worth_a_look(Took(5, 1), 5, 3), worth_a_look(Took(5, 1), 500, 300), worth_a_look(Took(5, 1, runs=2), 5, 3)
    ('ran only once', '', '')
    >>> worth_a_look(Took(4, 1, 2, since=10), 4, 3), worth_a_look(Took(5, 1, 2, since=10), 5, 3)
    ('last ran 10 runs ago', '')
    """
    if took is None or seconds > other + LOOK_SECONDS:
        return ""
    if took.runs == 1 and seconds <= LOOK_SHARE * other:
        return "ran only once"
    again = took.since >= LONG_AGO and seconds <= LOOK_AGAIN_SHARE * other
    return f"last ran {took.since} runs ago" if again else ""


@dataclass(frozen=True)
class Begun:
    """A run that is to be committed: planned from `at` (seconds since 1970), for `size` bytes, with the costs `before`
    it. Its own are known when it is in the log."""

    at: float
    size: int
    anew: bool
    before: Costs

    def to_dict(self) -> dict[str, Any]:
        return {"at": round(self.at, 3), "size": self.size, "anew": self.anew, "before": self.before.to_dict()}

    def ended(self, committed: datetime) -> Costs:
        """The costs with its own. Clocks may differ: nothing takes less than no time."""
        kind, other = ("anew", "by_changes") if self.anew else ("by_changes", "anew")
        last, others = getattr(self.before, kind), getattr(self.before, other)
        took = Took(max(0.0, committed.timestamp() - self.at), self.size, last.runs + 1 if last else 1)
        return Costs(**{kind: took, other: others and replace(others, since=others.since + 1)})


def begun_from(found: Mapping[str, Any]) -> Begun:
    before = {kind: _took(*known) for kind, known in found["before"].items()}
    return Begun(float(found["at"]), int(found["size"]), bool(found["anew"]), Costs(**before))


def _took(seconds: float, size: int, runs: int = 1, since: int = 0) -> Took:
    """Runs were not counted at first."""
    return Took(float(seconds), int(size), int(runs), int(since))
