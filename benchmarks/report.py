"""The table and the plot of a benchmark run."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

WAYS = ("endpoint diff", "native netChanges", "CDF + window", "snapshot diff", "plain scan")


@dataclass(frozen=True)
class Measured:
    """One case, all its ways measured side by side."""

    name: str
    changes: int
    seconds: dict[str, float]


def write_report(folder: Path, case: Measured, options: argparse.Namespace) -> None:
    """`leaf.json`, `leaf.md` and `leaf.png` in `folder`, with this case in its old numbers' place."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = folder / "leaf.json"
    known = json.loads(numbers.read_text()) if numbers.exists() else []
    found = {one["name"]: Measured(**one) for one in known} | {case.name: case}
    numbers.write_text(json.dumps([asdict(one) for one in found.values()], indent=1) + "\n")
    cases = list(found.values())
    (folder / "leaf.md").write_text(_markdown(cases, options))
    _plot(folder / "leaf.png", cases)


def _markdown(cases: Sequence[Measured], options: argparse.Namespace) -> str:
    rows = "\n".join(_row(case) for case in cases)
    return f"""# The leaf: one table's changes, four ways

Made by `make bench` (`python -m benchmarks.leaf --rows {options.rows} --repeat {options.repeat}`), last on {date.today()}:
{os.cpu_count()} cores, Python {platform.python_version()}, Spark 4.2.0, Delta 4.4.0, `local[2]`. Seconds for a whole read (log, planning and
scan), the median of {options.repeat} rounds of all ways, after two that only warm up (of the first three cases: of 7 reads one way after
the other, after one, on an earlier day). All ways were checked to find the same number of changes.

- *endpoint diff*: this package's default reader. *snapshot diff*: its oracle, which reads both versions in full.
- *native netChanges*: Spark 4.2's own `CHANGES` with `deduplicationMode = 'netChanges'`.
- *CDF + window*: the change data feed, first and last event per key; the writers have paid for the feed.
- *plain scan*: a SELECT of the added rows alone, where there are only added rows.

| case | changes | {" | ".join(WAYS)} | native / endpoint |
|---|---|{"---|" * len(WAYS)}---|
{rows}

![seconds by case](leaf.png)
"""


def _row(case: Measured) -> str:
    seconds = [f"{case.seconds[way]:.2f}" if way in case.seconds else "" for way in WAYS]
    ratio = ""
    if "native netChanges" in case.seconds:
        ratio = f"{case.seconds['native netChanges'] / case.seconds['endpoint diff']:.1f}x"
    return f"| {case.name} | {case.changes} | {' | '.join(seconds)} | {ratio} |"


def _plot(path: Path, cases: Sequence[Measured]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(10, 0.55 * len(cases) + 1.5))
    height = 0.8 / len(WAYS)
    for index, way in enumerate(WAYS):
        places = [(row + index * height, case.seconds[way]) for row, case in enumerate(cases) if way in case.seconds]
        axes.barh([place for place, _ in places], [seconds for _, seconds in places], height, label=way)
    axes.set_yticks([row + 0.4 for row in range(len(cases))], [case.name for case in cases], fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("seconds (log scale)")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
