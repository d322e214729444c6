"""The table and the plot of the benchmark of change queries."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

WAYS = ("change query", "EXCEPT ALL", "query twice")


def write_query_report(folder: Path, done: Sequence[Any], options: argparse.Namespace) -> None:
    """`queries.md` and `queries.png` in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "queries.md").write_text(_markdown(done, options))
    _plot(folder / "queries.png", done)


def _markdown(done: Sequence[Any], options: argparse.Namespace) -> str:
    rows = "\n".join(_row(one) for one in done)
    crossovers = "\n".join(f"- {query}: {_crossover(done, query)}" for query in _queries(done))
    return f"""# Change queries against comparing both results

Made by `python -m benchmarks.queries --scale {options.scale:g} --shares {options.shares} --repeat {options.repeat}` on
{date.today()}: TPC-H, {os.cpu_count()} cores, Python {platform.python_version()}, Spark 4.2.0, Delta 4.4.0, `local[2]`.
Seconds for all of it: planning, reading, and a hash of every value of the result. Change query and EXCEPT ALL were checked
to find the same number of changes. A share of 1% means: of the orders, 1% come, 1% go and 1% are updated, all with their
lines and scattered over the table, and a few rows of the other tables change.

| query | share | changes | {" | ".join(WAYS)} | EXCEPT ALL / change query |
|---|---|---|{"---|" * len(WAYS)}---|
{rows}

Where the change query stops being faster than comparing:
{crossovers}

![seconds by share](queries.png)
"""


def _row(one: Any) -> str:
    seconds = " | ".join(f"{one.seconds[way]:.1f}" for way in WAYS)
    return f"| {one.query} | {one.share:.2%} | {one.changes} | {seconds} | {_gain(one):.1f}x |"


def _gain(one: Any) -> float:
    return float(one.seconds["EXCEPT ALL"] / one.seconds["change query"])


def _queries(done: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(one.query for one in done))


def _crossover(done: Sequence[Any], query: str) -> str:
    slower = [one.share for one in done if one.query == query and _gain(one) < 1]
    return f"at {min(slower):.2%}" if slower else "not within the shares measured"


def _plot(path: Path, done: Sequence[Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5))
    for query in _queries(done):
        own = [one for one in done if one.query == query]
        axes.plot([one.share for one in own], [_gain(one) for one in own], marker="o", label=query)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("share of the orders that changed")
    axes.set_ylabel("EXCEPT ALL / change query (above 1: change query faster)")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
