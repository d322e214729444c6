"""`dbt build` in this process, told to a progress bar instead of the terminal."""

from collections.abc import Callable
from typing import Any

from dbt.cli.main import dbtRunner

ARGUMENTS = ["build", "--log-level", "none", "--no-print", "--no-version-check", "--threads", "4"]
ARGUMENTS += ["--exclude", "source:raw.flight_events+"]  # the demo sends no events


class BuildFailed(Exception):
    """dbt could not run, or a model or test failed; the message is what dbt said of each."""


def dbt_build(on_progress: Callable[[int, int, str], None]) -> None:
    """One `dbt build` of the project in the current directory, without what is built from events.

    `on_progress` gets (nodes done, nodes in all, name of a node that starts). Raises BuildFailed.
    """
    done = 0

    def told(event: Any) -> None:
        nonlocal done
        if event.info.name == "LogStartLine":
            on_progress(done, event.data.total, event.data.node_info.node_name)
        elif event.info.name == "NodeFinished":
            done += 1

    outcome = dbtRunner(callbacks=[told]).invoke(ARGUMENTS)
    if not outcome.success:
        raise BuildFailed(_why(outcome))


def _why(outcome: Any) -> str:
    if outcome.exception is not None:
        return str(outcome.exception)
    failed = (one for one in outcome.result if one.status in ("error", "fail", "runtime error"))
    return "\n\n".join(f"{one.node.name}: {(one.message or one.status).strip()}" for one in failed)
