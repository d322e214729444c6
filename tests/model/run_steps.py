"""The steps of a run, one function each, named and ordered as consume/ has them (steps.py, commit.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.model.cursor import resolve, rewound
from tests.model.world import CONSUME, OTHER, ROWS, Commit, Run, Unknown, World

TRIES = 3
IDLE = Run()
Guards = frozenset[str]
Next = tuple[str, World]


class Broken(Exception):
    """A run `told` that all is well, and it is not: `why`."""

    def __init__(self, why: str, told: str):
        super().__init__(why)
        self.why, self.told = why, told


def run_steps(world: World, number: int, guards: Guards) -> Iterator[Next]:
    """What the run can do next, and its crash."""
    run = world.runs[number]
    if run.at == "idle" and not world.starts:
        return
    if run.at != "idle":
        yield "is killed", _with(world, number, IDLE)
    yield from STEPS[run.at](world, number, guards)


def _idle(world: World, number: int, guards: Guards) -> Iterator[Next]:
    """Resolve the cursor."""
    begun = world._replace(starts=world.starts - 1)
    try:
        cursor = resolve(world, guards)
    except Unknown as error:
        yield f"starts, and stops with OffsetUnknown: {error}", begun
        return
    run = Run("pin", n=cursor.n + 1, start=cursor.reached, seen=world.head)
    yield f"resolves its cursor: consumption {run.n} begins after {run.start}", _with(begun, number, run)


def _pin(world: World, number: int, guards: Guards) -> Iterator[Next]:
    """Pin the end. With nothing to read the run ends, or keeps its offset alive by a commit without rows."""
    run = _planned(world.runs[number]._replace(pin=world.source), guards)
    if run.end != run.start:
        yield f"plans ({run.start}, {run.end}] as number {run.n}", _at(world, number, "check", run)
        return
    yield "finds nothing to read, and ends", _with(world, number, IDLE)
    yield "finds nothing to read, and renews its offset", _at(world, number, "check", run._replace(keeps=True))


def _planned(run: Run, guards: Guards) -> Run:
    end = max(run.pin, run.start) if "end" in guards else run.pin
    return run._replace(end=end, n=run.n if "sequence" in guards else end)


def _check(world: World, number: int, guards: Guards) -> Iterator[Next]:
    """Is it still the table planned for? And where to look for the commit later."""
    run = world.runs[number]
    if "seen before" in guards and rewound(world, run.seen, world.head + 1):
        yield "sees a RESTORE since its plan", _at(world, number, "again", run)
    else:
        yield "begins its statement", _at(world, number, "open", run._replace(before=world.head))


def _open(world: World, number: int, guards: Guards) -> Iterator[Next]:
    """Delta begins a transaction, and skips the write of a number that it has."""
    run, stored = world.runs[number], world.stored
    if stored >= run.n:
        yield f"is skipped by Delta in silence: {stored} is stored", _at(world, number, "verify", run)
    else:
        opened = run._replace(read=world.head)
        yield f"opens Delta's transaction at version {world.head}", _at(world, number, "commit", opened)


def _commit(world: World, number: int, guards: Guards) -> Iterator[Next]:
    """A RESTORE meanwhile is no conflict to Delta for a blind append, and whether others' commits are depends on the
    rows: both are tried."""
    run = world.runs[number]
    if "conflict" in guards and any(commit.txn for commit in world.log[run.read + 1 :]):
        yield "meets ConcurrentTransactionException", _at(world, number, "again", run)
        return
    if any(commit.kind == OTHER for commit in world.log[run.read + 1 :]):
        yield "meets another conflict", _at(world, number, "again", run)
    rows = tuple(sorted((*world.log[-1].rows, *range(run.start + 1, run.end + 1))))
    if "one commit" not in guards:
        written = world._replace(log=(*world.log, Commit(ROWS, rows)))
        yield f"writes rows {rows} as version {written.head}", _at(written, number, "offset", run)
        return
    yield _landing(world, number, rows)


def _landing(world: World, number: int, rows: tuple[int, ...]) -> Next:
    run = world.runs[number]
    commit = Commit(CONSUME, rows, txn=run.n, reached=run.end, seen=run.seen)
    landed = world._replace(log=(*world.log, commit))
    told = f"commits version {landed.head}: rows {rows}, number {run.n}, offset {run.end}"
    return told, _at(landed, number, "verify", run._replace(landed=landed.head))


def _offset(world: World, number: int, guards: Guards) -> Iterator[Next]:
    """Only where rows and offset are not one commit."""
    yield _landing(world, number, world.log[-1].rows)


def _verify(world: World, number: int, guards: Guards) -> Iterator[Next]:
    """Is this attempt in the log? Then the run says that all is well, which must be true."""
    run = world.runs[number]
    if not _found(world, run, guards):
        yield "does not find its attempt", _at(world, number, "again silent", run)
        return
    if "seen at verify" in guards and run.landed >= 0 and rewound(world, run.seen, run.landed):
        yield "stops with OffsetUnknown: a RESTORE came between plan and commit", _with(world, number, IDLE)
        return
    told = f"says that it consumed up to {run.end}"
    _check_true(world, run, told)
    yield told, _with(world, number, IDLE)


def _found(world: World, run: Run, guards: Guards) -> bool:
    if "verify" not in guards:
        return True
    if "attempt" in guards:
        return run.landed >= 0
    return any(commit.txn == run.n for commit in world.log)


def _check_true(world: World, run: Run, told: str) -> None:
    wanted, since = tuple(range(1, run.end + 1)), world.log[run.seen :]
    if not any(commit.rows == wanted for commit in since):
        held = ", ".join(str(commit.rows) for commit in since)
        raise Broken(f"since its plan the target has held {held}, and never {wanted}", told)


def _again(world: World, number: int, guards: Guards, silent: bool = False) -> Iterator[Next]:
    """Plan again from the cursor as it is now, to the same pinned end; bounded."""
    run, ends = world.runs[number], _with(world, number, IDLE)
    if run.tries == TRIES:
        yield "stops with Fenced: others were first three times", ends
        return
    try:
        cursor = resolve(world, guards)
    except Unknown as error:
        yield f"stops with OffsetUnknown: {error}", ends
        return
    fresh = _fresh(world, run, cursor.n + 1, cursor.reached, guards)
    yield _decided(world, number, run, fresh, silent)


def _fresh(world: World, run: Run, n: int, start: int, guards: Guards) -> Run:
    again = Run("check", run.tries + 1, run.pin, n, start, seen=world.head, keeps=run.keeps)
    planned = _planned(again, guards)
    return planned if "plan again" in guards else planned._replace(start=run.start, end=run.end)


def _decided(world: World, number: int, old: Run, fresh: Run, silent: bool) -> Next:
    ends = _with(world, number, IDLE)
    if silent and fresh.n == old.n:
        return "stops with ConsumptionRefused: its statement committed nothing", ends
    if (old.keeps or fresh.end == fresh.start) and fresh.n != old.n:
        return "finds nothing left to read, and ends", ends
    if old.keeps:
        return "stops with Fenced: a renewed offset is not planned again", ends
    told = f"plans again: ({fresh.start}, {fresh.end}] as number {fresh.n}"
    return told, _with(world, number, fresh)


def _again_silent(world: World, number: int, guards: Guards) -> Iterator[Next]:
    yield from _again(world, number, guards, silent=True)


def _at(world: World, number: int, step: str, run: Run) -> World:
    return _with(world, number, run._replace(at=step))


def _with(world: World, number: int, run: Run) -> World:
    runs = tuple(run if index == number else other for index, other in enumerate(world.runs))
    return world._replace(runs=runs)


STEPS: dict[str, Callable[[World, int, Guards], Iterator[Next]]] = {
    "idle": _idle,
    "pin": _pin,
    "check": _check,
    "open": _open,
    "commit": _commit,
    "offset": _offset,
    "verify": _verify,
    "again": _again,
    "again silent": _again_silent,
}
