"""The table and the plot of `benchmarks.maintained`, of one run or from the files that `--out` wrote:

    python -m benchmarks.maintained_report [numbers.json ...] [--report docs/benchmarks]

`maintained.md` keeps its own words: the table is put between its two marks, or at its end where it has none. Numbers are
added to those of `maintained.json`; of two measurements of the same the later one is taken.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

WAYS = {
    "rebuild": "rebuild",
    "differential": "differential",
    "incremental": "incremental",
    "apply_changes": "apply_changes",
    "by_hand": "by hand",
}
MISSING = "\N{EN DASH}"
OWN = ("differential", "apply_changes")  # what a user gets who says nothing more
BEGIN, END = "<!-- numbers of benchmarks.maintained -->", "<!-- end of numbers -->"
Case = dict[str, Any]


def write_report(folder: Path, done: Iterable[Case]) -> None:
    """`maintained.json` and `maintained.md` in `folder`, and `maintained.png` where something was measured at several
    shares."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = folder / "maintained.json"
    cases = _latest([*(json.loads(numbers.read_text()) if numbers.exists() else []), *done])
    numbers.write_text(json.dumps(cases, indent=1) + "\n")
    document = folder / "maintained.md"
    text = document.read_text() if document.exists() else "# Maintained models\n"
    plot = "\n\n![seconds by share](maintained.png)" if _lines(cases) else ""
    document.write_text(_with_numbers(text, _markdown(cases) + plot))
    if plot:
        _plot(folder / "maintained.png", cases)


def _latest(done: Iterable[Case]) -> list[Case]:
    by_name = {(*_panel(case), case["share"]): case for case in done}
    return sorted(by_name.values(), key=lambda case: (case["scale"], case["kind"], case["share"]))


def _panel(case: Case) -> tuple[str, str, float]:
    return case["query"], case["kind"], case["scale"]


def _lines(cases: Sequence[Case]) -> list[tuple[str, str, float]]:
    """What was measured at several shares: a line, not a point."""
    return [panel for panel, points in Counter(map(_panel, cases)).items() if points > 1]


def _with_numbers(text: str, numbers: str) -> str:
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2] or "\n"
    return f"{before.rstrip()}\n\n{BEGIN}\n{numbers}\n{END}{after}"


def _markdown(cases: Sequence[Case]) -> str:
    ways = [way for way in WAYS if any(way in case["seconds"] for case in cases)]
    rows = "\n".join(_row(case, ways) for case in cases)
    return f"""Seconds, the median of so many refreshes; the gains are those of `differential`, the default, and of `apply_changes`.

| query | scale | changes | share | refreshes | {" | ".join(WAYS[way] for way in ways)} | rebuild / ours | by hand / ours |
|---|---|---|---|---|{"---|" * len(ways)}---|---|
{rows}"""


def _row(case: Case, ways: Sequence[str]) -> str:
    seconds = [f"{case['seconds'][way]:.1f}" if way in case["seconds"] else MISSING for way in ways]
    gains = [_gain(case["seconds"], way) for way in ("rebuild", "by_hand")]
    name = case["query"].replace("_", " ")
    columns = [name, f"{case['scale']:g}", case["kind"], f"{case['share']:.2%}", str(case["repeat"]), *seconds, *gains]
    return f"| {' | '.join(columns)} |"


def _gain(seconds: dict[str, float], other: str) -> str:
    ours = next(seconds[way] for way in OWN if way in seconds)
    return f"{seconds[other] / ours:.1f}" if other in seconds else MISSING


def _plot(path: Path, cases: Sequence[Case]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = _lines(cases)
    rows = -(-len(panels) // 3)
    figure, axes = pyplot.subplots(rows, 3, figsize=(13, 3.6 * rows), squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for panel, axis in zip(panels, axes.flat, strict=False):
        _draw(axis, panel, [case for case in cases if _panel(case) == panel])
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def _draw(axis: Any, panel: tuple[str, str, float], cases: Sequence[Case]) -> None:
    """Each way has its colour in every panel."""
    query, kind, scale = panel
    for index, (way, label) in enumerate(WAYS.items()):
        points = sorted((case["share"], case["seconds"][way]) for case in cases if way in case["seconds"])
        if points:
            axis.plot(*zip(*points, strict=True), marker="o", color=f"C{index}", label=label)
    axis.set(xscale="log", xlabel="share that changed", ylabel="seconds")
    axis.set_ylim(bottom=0)
    axis.set_title(f"{query.replace('_', ' ')} ({kind}, scale {scale:g})", fontsize=9)
    axis.legend(fontsize=7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("numbers", type=Path, nargs="*", help="JSON files written by benchmarks.maintained")
    parser.add_argument("--report", type=Path, default=Path("docs/benchmarks"), help="a folder")
    options = parser.parse_args()
    write_report(options.report, [case for file in options.numbers for case in json.loads(file.read_text())])


if __name__ == "__main__":
    main()
