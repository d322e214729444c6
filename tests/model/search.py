"""Every world that can come about, looked through for one in which a change is lost or doubled and nothing says so."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from tests.model.cursor import resolve
from tests.model.guards import GUARDS
from tests.model.run_steps import Broken, Next, run_steps
from tests.model.world import OTHER, REPLACE, RESTORE, Commit, Unknown, World

NAMES = ("A", "B")


@dataclass(frozen=True)
class Found:
    """How many `worlds` were looked at; the shortest `trace` to the first wrong one, and what is `wrong` with it. `stops`:
    the errors that runs ended with."""

    worlds: int
    trace: tuple[str, ...] = ()
    wrong: str = ""
    stops: frozenset[str] = frozenset()

    def __str__(self) -> str:
        steps = [f"{number:2}. {step}" for number, step in enumerate(self.trace, 1)]
        return (
            "\n".join([*steps, f"    WRONG: {self.wrong}"]) if self.wrong else f"nothing wrong in {self.worlds} worlds"
        )


def search(first: World, without: str = "") -> Found:
    """Breadth first from `first`, with all guards but the one that is left out."""
    return _Search(first, GUARDS - {without}).found()


class _Search:
    def __init__(self, first: World, guards: frozenset[str]):
        self.guards = guards
        self.came: dict[World, tuple[World, str] | None] = {_key(first): None}
        self.todo = deque([first])
        self.stops: set[str] = set()

    def found(self) -> Found:
        while self.todo:
            world = self.todo.popleft()
            wrong = wrong_rows(world, self.guards)
            if wrong:
                return Found(len(self.came), self._trace(world), wrong)
            try:
                self._look(world)
            except Broken as error:
                return Found(len(self.came), (*self._trace(world), error.told), error.why)
        return Found(len(self.came), stops=frozenset(self.stops))

    def _look(self, world: World) -> None:
        for told, after in next_worlds(world, self.guards):
            if " stops with " in told:
                self.stops.add(told.partition(" stops with ")[2].partition(":")[0])
            if _key(after) not in self.came:
                self.came[_key(after)] = (world, told)
                self.todo.append(after)

    def _trace(self, world: World) -> tuple[str, ...]:
        steps: list[str] = []
        while (before := self.came[_key(world)]) is not None:
            world, told = before
            steps.append(told)
        return tuple(reversed(steps))


def wrong_rows(world: World, guards: frozenset[str]) -> str:
    """The target holds each change up to its cursor once, and no other; or the cursor is unknown, which is said."""
    try:
        reached = resolve(world, guards).reached
    except Unknown:
        return ""
    rows, wanted = world.log[-1].rows, tuple(range(1, reached + 1))
    return "" if rows == wanted else f"the cursor is {reached}, and the target holds {rows}"


def next_worlds(world: World, guards: frozenset[str]) -> Iterator[Next]:
    for number, name in enumerate(NAMES):
        try:
            for told, after in run_steps(world, number, guards):
                yield f"run {name} {told}", after
        except Broken as error:
            raise Broken(error.why, f"run {name} {error.told}") from error
    yield from _others(world)


def _others(world: World) -> Iterator[Next]:
    """What everybody else does."""
    if world.commits:
        yield (
            f"change {world.source + 1} is committed to the source",
            world._replace(source=world.source + 1, commits=world.commits - 1),
        )
    if world.others:
        after = world._replace(log=(*world.log, Commit(OTHER, world.log[-1].rows)), others=world.others - 1)
        yield f"somebody optimizes the target, as version {after.head}", after
    if world.restores:
        for version in range(world.cleaned, world.head):
            commit = Commit(RESTORE, world.log[version].rows, restored=version)
            after = world._replace(log=(*world.log, commit), restores=world.restores - 1)
            yield f"somebody restores version {version}, as version {after.head}", after
    if world.replaces:
        after = world._replace(log=(*world.log, Commit(REPLACE, ())), replaces=world.replaces - 1)
        yield f"somebody replaces the target, as version {after.head}", after
    if world.cleanups:
        for version in range(world.cleaned + 1, world.head + 1):
            after = world._replace(cleaned=version, cleanups=world.cleanups - 1)
            yield f"the log is cleaned below version {version}", after


def _key(world: World) -> World:
    """The two runs are of one kind: worlds that differ only in which is which are one."""
    one, other = world.runs
    return world if one <= other else world._replace(runs=(other, one))
