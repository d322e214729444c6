"""What the runs of a maintained model took, carried from commit to commit (decision 0027)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

# Up to so many bytes of changes starting jobs is what takes the time: a run by some marked rows, a few hundred bytes,
# does not tell that a thousand times as many take a thousand times as long.
FEW = 16 * 1024 * 1024
# What ran once may have been slow for other reasons than what it did: a cold JVM, a busy machine. It is worth another
# look where that takes at most so many seconds longer than the other way, and so many times as long: a rebuild, which
# is what there would be without us, and whose first run is the first of all, by as much as a cold JVM may have added
# (at once only where the query makes that likely); and a run by changes.
LOOK_SECONDS, LOOK_AGAIN_SHARE, COLD_SECONDS, COLD_SHARE = 10.0, 1.5, 5.0, 3.0
# So is what has not run for so many runs, since tables grow and machines change; there it may take the smaller share.
LONG_AGO = 10


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

    def of_changes(self, size: int, fixed: float) -> float:
        """The seconds of a run by changes for another size, so many of which do not go with it.

        >>> Took(40.0, 2 * FEW).of_changes(4 * FEW, 2.0), Took(40.0, 2 * FEW).of_changes(FEW, 2.0)
        (78.0, 21.0)
        >>> Took(4.0, 100).of_changes(FEW, 2.0), Took(4.0, 100).of_changes(50, 2.0), Took(1.0, 100).of_changes(50, 2.0)
        (4.0, 3.0, 1.0)
        """
        known, least = replace(self, size=max(self.size, min(size, FEW))), min(self.seconds, fixed)
        return least + replace(known, seconds=self.seconds - least).scaled(size)

    def to_list(self) -> list[float]:
        return [round(self.seconds, 2), self.size, self.runs, self.since]


@dataclass(frozen=True)
class Costs:
    """The newest run of either kind, where there was one."""

    anew: Took | None = None
    by_changes: Took | None = None

    def look_at_anew(self, anew: float, by_changes: float, cold: float) -> str:
        """Why the target should be made anew once more, though that is taken to take longer than `by_changes`; empty
        where it should not. `cold`: up to how many times as long it runs again at once, if it ran only once.

        >>> costs = Costs(Took(9, 1))
        >>> costs.look_at_anew(9, 4, 3), costs.look_at_anew(9, 3.9, 3), costs.look_at_anew(3.1, 1, 3)
        ('ran only once', '', '')
        >>> Costs(Took(9, 1, since=9)).look_at_anew(9, 4, 1), Costs(Took(9, 1, since=10)).look_at_anew(9, 4, 1)
        ('', 'ran only once')
        """
        share = COLD_SHARE if self.anew and self.anew.since >= LONG_AGO else cold
        most = min(share * by_changes, by_changes + COLD_SECONDS)
        return _worth_a_look(self.anew, anew, by_changes, most)

    def look_at_changes(self, by_changes: float, anew: float) -> str:
        """Why it should follow its changes once more, or for the first time, though making it `anew` takes less.

        >>> Costs(Took(3, 1, 2), Took(4, 1)).look_at_changes(4, 3), Costs(Took(3, 1, 10)).look_at_changes(4, 3)
        ('ran only once', 'did not run in 10 runs')
        """
        if self.by_changes is None and self.anew is not None:
            never = Took(by_changes, 1, runs=0, since=self.anew.runs)
            return _worth_a_look(never, by_changes, anew, 0.0)
        return _worth_a_look(self.by_changes, by_changes, anew, LOOK_AGAIN_SHARE * anew)

    def to_dict(self) -> dict[str, list[float]]:
        both = {"anew": self.anew, "by_changes": self.by_changes}
        return {kind: took.to_list() for kind, took in both.items() if took is not None}


def _worth_a_look(took: Took | None, seconds: float, other: float, most: float) -> str:
    """Of what takes `seconds` by its newest run, where the `other` way takes less. `most`: how many where it ran only
    once."""
    if took is None or seconds > other + LOOK_SECONDS:
        return ""
    if took.runs == 1 and seconds <= most:
        return "ran only once"
    again = took.since >= LONG_AGO and seconds <= LOOK_AGAIN_SHARE * other
    return f"did not run in {took.since} runs" if again else ""


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
