"""What `python -m benchmarks.ingest` writes down."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Run:
    """Speeds, latencies and bytes as benchmarks.ingest has them."""

    seconds: float
    rounds: int
    speeds: Sequence[Any]
    waits: Sequence[Any]
    held: Mapping[str, float]


def write_report(folder: Path, run: Run) -> None:
    """`ingest.md` and `ingest.png` in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ingest.md").write_text(_markdown(run))
    _plot(folder / "ingest.png", run.speeds)


def _markdown(run: Run) -> str:
    return f"""# Ingest

Made by `python -m benchmarks.ingest --seconds {run.seconds:g} --rounds {run.rounds}` on {date.today()}: {os.cpu_count()} cores,
load {os.getloadavg()[2]:.1f} in the last 15 minutes, Python {platform.python_version()}, Spark 4.2.0, Delta 4.4.0, `local[2]`.
The table has row tracking. Batches of 5,000 rows, as Arrow record batches unless it says dicts; `max_client_lag` 1 s. The
sender never stops; the time goes on until its last row is committed. What was sent was counted in the table.

| | rows/s | rows | commits | seconds |
|---|---|---|---|---|
{_lines(_speed(one) for one in run.speeds)}

![rows a second](ingest.png)

Single rows, in seconds from the call to the commit, and to the read of an append-only stream that has the row (the
stream is read in the same process, on the same cores, as soon as there is something):

| | rows | p50 | p99 |
|---|---|---|---|
{_lines(_wait(one) for one in run.waits)}

Memory with a disk that takes 1 s more for each commit, one sender that never stops (`when_full="block"`):

| | MB |
|---|---|
{_lines(f"| {name} | {_mb(value)} |" for name, value in run.held.items())}

*held at most* is what the client counts; *process grew by* the peak of the Python process, which holds a flush's rows
once more while it sends them to Spark, and what Arrow's allocator keeps for later.

Against the aims:

| | aim | found |
|---|---|---|
{_lines(f"| {name} | {aim} | {found} |" for name, aim, found in _aims(run))}
"""


def _aims(run: Run) -> Iterable[tuple[str, str, str]]:
    rates = {one.name: one.per_second for one in run.speeds}
    one = rates.get("1 channel, 5 columns")
    hundred = rates.get("100 channels, 5 columns")
    if one and hundred:
        yield "rows a second, one client, 5 columns", "100,000", f"{one:,.0f}"
        yield "100 channels against one", "90 %", f"{hundred / one:.0%}"
    for wait in run.waits:
        if wait.name.startswith("append to commit"):
            yield f"p99, {wait.name}", f"{wait.lag + 2:g} s", f"{wait.p99:.2f} s"
    bound = run.held["max_buffered_bytes"] + run.held["flush_bytes"]
    yield "memory with a slow disk", f"{_mb(bound)} MB", f"{_mb(run.held['process grew by'])} MB"


def _mb(size: float) -> str:
    return f"{size / 1024 / 1024:.1f}"


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _speed(one: Any) -> str:
    return f"| {one.name} | {one.per_second:,.0f} | {one.rows:,} | {one.commits} | {one.seconds:.1f} |"


def _wait(one: Any) -> str:
    return f"| {one.name} | {one.rows} | {one.p50:.2f} | {one.p99:.2f} |"


def _plot(path: Path, speeds: Sequence[Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 0.4 * len(speeds) + 1.2))
    axes.barh([one.name for one in speeds], [one.per_second for one in speeds])
    axes.axvline(100_000, color="grey", linestyle="--", linewidth=1)
    axes.invert_yaxis()
    axes.set_xlabel("rows a second")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
