"""One target and its life: in every round its source changes, its consumer crashes before it writes, is started again and
crashes later, another one finishes, and what it holds is checked."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from uuid import uuid4

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.commit import Outcome
from dbt.adapters.streamspark.errors import Fenced
from tests.faults.harness import crash
from tests.faults.harness.client import MEANWHILE, Orders
from tests.faults.harness.crash import STEPS, Crash
from tests.faults.harness.oracle import check
from tests.faults.harness.protocol_faults import applied
from tests.faults.harness.shared_jvm import address_of, forget_the_dead, session_of, when_idle
from tests.faults.harness.source import Source
from tests.faults.harness.strategies import INSERTS_ONLY, STRATEGIES, Place, consume, stream_on
from tests.faults.harness.target_log import consumptions

EARLY, LATE = STEPS[:6], STEPS[6:]  # before it writes, and after which its commit may be there
ROUNDS = len(EARLY)
AFTER_PLANNING = ("plan", "staged", "set_confs", "before_dml")
TRIES = 5
Tally = Counter[tuple[str, str, str]]  # strategy, how, at -> how often


@dataclass
class Case:
    """Number `number` of the seed: the same strategy, steps, ways to crash and changes each time; when a process dies
    `writing` or after a `delay` is up to the machine. A share of the rounds, `overtaken`, ends with a run that another one
    overtakes. `fault` breaks the protocol, to see whether that is found: by the rows, and by what runs say they did."""

    base: SparkSession
    seed: int
    number: int
    fault: str = ""
    strategy: str = ""
    rounds: int = ROUNDS
    overtaken: float = 0.25
    tally: Tally = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.strategy = self.strategy or list(STRATEGIES)[self.number % len(STRATEGIES)]
        self.dice = Random(f"{self.seed}/{self.number}")
        self.spark = session_of(self.base)
        self.schema = f"harness_{uuid4().hex[:12]}"

    def run(self) -> Tally:
        """What happened, how often. Raises AssertionError, with what is needed to do it again."""
        self.spark.sql(f"create schema {self.schema}")
        try:
            with applied(self.fault):
                self._live()
            return self.tally
        finally:
            when_idle(self.base)
            forget_the_dead(self.base)
            shutil.rmtree(self.path.parent, ignore_errors=True)
            self.spark.sql(f"drop schema {self.schema} cascade")

    def _live(self) -> None:
        self.source.create()
        for number, both in enumerate(self.crashes()):
            with self._said(f"round {number}: {both}"):
                self._round(both)
        with self._said("at the end"):
            assert self.strategy == "table" or consume(self.spark, self.place) is None, "something is left to consume"

    def crashes(self) -> Iterator[tuple[Crash, Crash]]:
        """Every step once, an early and a late one in each round, in an order of the case's own."""
        early, late = (self.dice.sample(steps, len(steps)) for steps in (EARLY, LATE))
        for number in range(self.rounds):
            yield self._crash(early[number % ROUNDS]), self._crash(late[number % ROUNDS])

    def _crash(self, at: str) -> Crash:
        how = "kill" if at in MEANWHILE or self.dice.random() < 0.6 else "raise"
        return Crash(how, at, self.dice.random() < 0.5)

    def _round(self, both: tuple[Crash, Crash]) -> None:
        self.source.change()
        for one in both:
            self._count(self._happens(one), one.how, one.at)
            if one.how == "kill" and one.wait:
                when_idle(self.base)
        self._finish()
        if self.dice.random() < self.overtaken:
            self._overtaken()
        check(self.spark, self.place, self.path, self.source, chained=not self.fault)

    def _happens(self, one: Crash) -> bool:
        if one.how == "raise":
            return crash.raised(session_of(self.base), self.place, one.at)
        return crash.killed(self._orders(at=one.at, seed=self.dice.randrange(1000)))

    def _overtaken(self) -> None:
        """A run stands still at a step while the source changes and another run consumes that; then it goes on. Its
        session is its own: it may have the confs that make Delta skip a number's second write, a source's too."""
        at = self.dice.choice(AFTER_PLANNING)
        self.source.change()
        if self.dice.random() < 0.5:
            self._claim(crash.overtaken(session_of(self.base), self.place, at, self._rival))
        else:
            self._come_back(at)
        self._count(True, "overtaken", at)
        self._finish()

    def _rival(self) -> None:
        self.source.change()
        consume(session_of(self.base), self.place)

    def _come_back(self, at: str) -> None:
        """A process thought dead, planned with less than the run that has begun since, goes on and is first."""
        with crash.client(self._orders(pause=at)) as (_, pipe):
            assert crash.heard(pipe) == "paused"
            self.source.change()

            def go_on() -> None:
                pipe.send("go on")
                assert crash.heard(pipe) == "done"

            self._claim(crash.overtaken(session_of(self.base), self.place, "before_dml", go_on))

    def _claim(self, outcome: Outcome | None) -> None:
        """Who says that it has committed has."""
        if outcome is None or outcome.version is None:
            return
        attempts = {entry.version: entry.attempt for entry in consumptions(self.path, self.place.consumer)}
        assert attempts.get(outcome.version) == outcome.consumption.attempt, "a run claims another run's commit"

    def _finish(self) -> None:
        """Another consumer, in a session of its own; a scheduler starts it again when it is told to."""
        for _ in range(TRIES):
            try:
                return self._claim(consume(session_of(self.base), self.place))
            except Fenced:
                self._count(True, "fenced", "run again")
        raise AssertionError(f"fenced {TRIES} times")

    def _count(self, happened: bool, how: str, at: str) -> None:
        self.tally[self.strategy, how if happened else "too late", at] += 1

    def _orders(self, **orders: object) -> Orders:
        return Orders(address_of(self.base), self.place, self.path, fault=self.fault, **orders)  # type: ignore[arg-type]

    @contextmanager
    def _said(self, where: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            this = f"seed {self.seed}, case {self.number} ({self.strategy}), {where}"
            raise AssertionError(f"{this}: {type(error).__name__}: {error}") from error

    @cached_property
    def source(self) -> Source:
        return Source(self.spark, f"{self.schema}.source", self.dice, self.strategy in INSERTS_ONLY)

    @cached_property
    def place(self) -> Place:
        stream = stream_on(self.spark, self.source.name)
        return Place(self.strategy, self.source.name, f"{self.schema}.target", stream)

    @cached_property
    def path(self) -> Path:
        return Path(TableLog(self.spark, self.source.name).path.removeprefix("file:")).parent / "target"
