"""What happens meanwhile: at a named step of a consumption, or while its statement writes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dbt.adapters.streamspark.steps import on_step
from tests.consuming import Model


@contextmanager
def at_step(name: str, action: Callable[[], object], *, anywhere: bool = False) -> Iterator[None]:
    """Runs `action` once, when the step is reached in this thread, or `anywhere`."""
    pending, here = [action], threading.get_ident()

    def reached(step: str) -> None:
        if step == name and pending and (anywhere or threading.get_ident() == here):
            pending.pop()()

    stop = on_step(reached)
    try:
        yield
    finally:
        stop()


@contextmanager
def blocked_write(model: Model, tmp_path: Path, during: Callable[[], object]) -> Iterator[None]:
    """While the model's DML runs, that is after Delta opened its transaction, `during` happens.

    The DML must call the function `wait(id)`, which goes on when `during` is done."""
    gate, entered = tmp_path / "gate", tmp_path / "entered"

    def wait(value: int) -> int:
        entered.touch()
        deadline = time.monotonic() + 60
        while not gate.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        return value

    def other() -> None:
        while not entered.exists():
            time.sleep(0.02)
        during()
        gate.touch()

    model.spark.udf.register("wait", wait, "int")
    thread = threading.Thread(target=other)
    thread.start()
    try:
        yield
    finally:
        thread.join(timeout=60)
