"""What a run of the harness did, as a page of the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date

from tests.faults.harness.case import Tally
from tests.faults.harness.crash import STEPS
from tests.faults.harness.races import Race
from tests.faults.harness.races import Report as Raced
from tests.faults.harness.strategies import STRATEGIES

CRASHES = ("kill", "raise")


def crashes_of(tally: Tally) -> int:
    return sum(count for (_, how, _), count in tally.items() if how in CRASHES)


def report(seed: int, tally: Tally, raced: Mapping[Race, Raced], seconds: float) -> str:
    """Markdown: crashes by strategy and step, runs overtaken, races."""
    how = Counter[str]()
    for (_, one, _), count in tally.items():
        how[one] += count
    lines = [
        f"Seed {seed}, {date.today().isoformat()}, {seconds / 60:.0f} minutes.",
        "",
        f"**{crashes_of(tally)} crashes** ({how['kill']} processes killed, {how['raise']} errors raised), "
        f"**{how['overtaken']} runs overtaken** by another, **{len(raced)} races**: nothing lost, nothing doubled.",
        f"{how['too late']} more were to die while they wrote, and were done before; {how['fenced']} runs "
        "were told to run again.",
        "",
        *_table(tally),
        "",
        *_races(raced),
    ]
    return "\n".join(lines) + "\n"


def _table(tally: Tally) -> list[str]:
    """Killed and raised together; a column for each step."""
    head = ["strategy", *(f"`{step}`" for step in STEPS), "all"]
    rows = [[name, *_counts(tally, name)] for name in STRATEGIES]
    return [_row(head), _row(["---"] * len(head)), *(_row(row) for row in rows)]


def _counts(tally: Tally, strategy: str) -> list[str]:
    counts = [sum(tally[strategy, how, step] for how in CRASHES) for step in STEPS]
    return [str(count) for count in (*counts, sum(counts))]


def _races(raced: Mapping[Race, Raced]) -> list[str]:
    names = ["source", "committed", "planned again", "skipped", "fenced"]
    head = ["race", "commits of the source", "consumptions", "planned again", "found done", "told to run again"]
    rows = [[str(race), *(str(done[name]) for name in names)] for race, done in raced.items()]
    return [_row(head), _row(["---"] * len(head)), *(_row(row) for row in rows)]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
