"""What the demo prints."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rebuild import Difference
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

console = Console(highlight=False)


@contextmanager
def step(title: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar while the block runs, a line with its time when it is over. The block is given a function
    that takes (done, total, what is being done)."""
    bar = Progress(
        TextColumn("  {task.description}"),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[now]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    started = time.monotonic()
    with bar:
        task = bar.add_task(title, total=None, now="")
        yield lambda done, total, now: bar.update(task, completed=done, total=total, now=now)
    seconds = time.monotonic() - started
    console.print(f"  {title:<44} [dim]{seconds:5.1f} s")


def headline(text: str) -> None:
    console.print(f"\n[bold]{text}")


def failure(text: str) -> None:
    console.print(f"\n[bold red]The demo stopped.[/]\n{text}", markup=True, soft_wrap=True)


def show_rounds(changed: dict[str, list[str]]) -> None:
    """Consumer -> what its one commit did in each round."""
    rounds = max(map(len, changed.values()))
    table = Table(
        "consumer",
        *(f"round {n}" for n in range(1, rounds + 1)),
        title="Rows inserted (+), updated (~), deleted (-)",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    for consumer, cells in changed.items():
        table.add_row(consumer, *cells)
    console.print()
    console.print(table)


def show_checks(found: dict[str, Difference]) -> None:
    """Consumer -> how its target differs from a full rebuild."""
    table = Table(
        "consumer",
        *("rows", "missing", "surplus", "equals a full rebuild"),
        title="Compared with a full rebuild, row by row",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    for consumer, one in found.items():
        verdict = "[green]yes" if one.is_none else "[bold red]NO"
        table.add_row(consumer, f"{one.rows:,}", f"{one.missing:,}", f"{one.surplus:,}", verdict)
    console.print()
    console.print(table)
