"""Named points of a consumption (resolve_cursor, pin, plan, staged, set_confs, before_dml, merge_found where a merge is
by position, rows_written where rows are replaced in place, after_dml, verify, done), of any other statement of dbt,
hooks and ALTERs after the commit among them (statement), and of a flush (before_flush, before_commit, after_commit,
after_flush), where a test can end the process or raise.

Arm with the environment variable STREAMSPARK_FAULT, `<step>:<kill|raise>[:<n>]` (at the nth time that the
step is reached, 1 by default), or with `on_step(callback)` inside the process. Unarmed, a step does nothing.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable

ENVIRONMENT = "STREAMSPARK_FAULT"

_callbacks: list[Callable[[str], None]] = []
_reached: Counter[str] = Counter()


class FaultInjected(RuntimeError):
    """Raised at a step armed with `raise`."""


def step(name: str) -> None:
    """Say that the consumption or flush has come to the step `name`."""
    for callback in _callbacks:
        callback(name)
    fault = os.environ.get(ENVIRONMENT)
    if fault:
        _reached[name] += 1
        _inject(name, fault)


def on_step(callback: Callable[[str], None]) -> Callable[[], None]:
    """Call `callback(step name)` at every step of this process; returns a function that stops it."""
    _callbacks.append(callback)
    return lambda: _callbacks.remove(callback)


def _inject(name: str, fault: str) -> None:
    where, action, *count = fault.split(":")
    if where != name or _reached[name] != int(count[0] if count else 1):
        return
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    raise FaultInjected(f"fault injected at step {name}")
