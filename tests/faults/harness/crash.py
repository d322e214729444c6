"""One crash of one run of a model, and what a process is told to do for it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.steps import FaultInjected
from tests.faults.harness.client import MEANWHILE, Orders, main
from tests.faults.harness.shared_jvm import forking
from tests.faults.harness.strategies import Place, consume
from tests.spark.consume.interruptions import at_step

STEPS = (
    "resolve_cursor",
    "pin",
    "plan",
    "staged",
    "set_confs",
    "before_dml",
    "writing",
    "committed",
    "delay",
    "after_dml",
    "verify",
    "done",
)
MOST_SECONDS = 120


@dataclass(frozen=True)
class Crash:
    """`how`: a process is killed, or an error is raised, `at` a step. `wait`: until the JVM has done all that the dead
    process asked of it; otherwise the next run begins at once."""

    how: str
    at: str
    wait: bool = True


@contextmanager
def client(orders: Orders) -> Iterator[tuple[Any, Connection]]:
    """The process that follows the orders, and the pipe by which it speaks. It is gone when the block ends."""
    context = forking()
    ours, its = context.Pipe()
    process = context.Process(target=main, args=(orders, its))
    process.start()
    its.close()
    try:
        yield process, ours
        process.join(MOST_SECONDS)
    finally:
        process.kill()
        process.join()
        ours.close()


def heard(pipe: Connection) -> str:
    """The process's next word; dead, where it can say none."""
    if not pipe.poll(MOST_SECONDS):
        return "silent"
    try:
        return str(pipe.recv())
    except EOFError:
        return "dead"


def killed(orders: Orders) -> bool:
    """Whether the process came so far that it was killed. Raises AssertionError where it ended in another way."""
    with client(orders) as (process, pipe):
        said = heard(pipe)
    assert said in ("dead", "done", "fenced"), f"the process is {said}"
    expected = -signal.SIGKILL if said == "dead" else 0
    assert process.exitcode in (expected, -signal.SIGKILL), f"the process ended with {process.exitcode}"
    return bool(process.exitcode)


def raised(spark: SparkSession, place: Place, at: str) -> bool:
    """Whether the run came to the step, where an error is raised."""

    def fail() -> None:
        raise FaultInjected(f"at {at}")

    with at_step(at, fail):
        try:
            consume(spark, place)
        except FaultInjected:
            return True
    return False


def overtaken(spark: SparkSession, place: Place, at: str, meanwhile: Callable[[], object]) -> Any:
    """What becomes of a run while which, at a step, everything happens that `meanwhile` does."""
    assert at not in MEANWHILE
    with at_step(at, meanwhile):
        return consume(spark, place)
