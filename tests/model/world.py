"""What the model of the protocol sees of the world: one source, one target's log, and two runs of one consumer.

A source change is its number, 1, 2, …: version v of the source adds change v. Everything is a tuple, so that a world can be
looked up among those seen before.
"""

from __future__ import annotations

from typing import NamedTuple

CONSUME, MADE, RESTORE, REPLACE, ROWS, OTHER = "consume", "made", "restore", "replace", "rows", "other"


class Commit(NamedTuple):
    """A version of the target. `rows` are the changes that it holds after it. Of a consumption: its `txn` number, the
    offset `reached`, and the target's version `seen` when it was planned. `restored`: what a RESTORE brought back."""

    kind: str
    rows: tuple[int, ...]
    txn: int = 0
    reached: int = 0
    seen: int | None = None
    restored: int = 0


class Run(NamedTuple):
    """One run of the model, `at` its next step; idle when there is none. `pin`: the source's version when the run began
    to look. `n`, `start`, `end`, `seen`: the plan. `before`: the target's version when the write began, `read`: the one
    that Delta's transaction began with, `landed`: the one that carries this attempt."""

    at: str = "idle"
    tries: int = 1
    pin: int = 0
    n: int = 0
    start: int = 0
    end: int = 0
    seen: int = -1
    before: int = -1
    read: int = -1
    landed: int = -1
    keeps: bool = False


class World(NamedTuple):
    """`cleaned`: commit files below this version are gone, `txn` and rows are not (they are in a checkpoint). The rest
    counts what may still happen."""

    source: int
    log: tuple[Commit, ...]
    cleaned: int
    runs: tuple[Run, ...]
    starts: int
    commits: int
    restores: int
    cleanups: int
    replaces: int
    others: int

    @property
    def head(self) -> int:
        return len(self.log) - 1

    @property
    def stored(self) -> int:
        """The newest number in the target's state, which neither RESTORE nor cleanup takes away."""
        return max(commit.txn for commit in self.log)


class Cursor(NamedTuple):
    n: int
    reached: int


class Unknown(Exception):
    """The protocol's OffsetUnknown: noticed, and said."""


def first_world(
    starts: int, commits: int = 0, restores: int = 0, cleanups: int = 0, replaces: int = 0, others: int = 0
) -> World:
    """A target that is there and has consumed nothing, a source with one change. What may happen in it: starts of runs,
    more changes, RESTOREs, log cleanups, replacements of the target by others and other commits of others (OPTIMIZE)."""
    idle = (Run(), Run())
    return World(1, (Commit(MADE, ()),), 0, idle, starts, commits, restores, cleanups, replaces, others)
