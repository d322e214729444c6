"""What `python -m benchmarks.ingest` writes down."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any


def write_report(
    path: Path, seconds: float, speeds: Sequence[Any], waits: Sequence[Any], held: Mapping[str, Any]
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"""# Ingest

Made by `python -m benchmarks.ingest --seconds {seconds:g}` on {date.today()}: {os.cpu_count()} cores, load {os.getloadavg()[2]:.1f} in the last 15
minutes, Python {platform.python_version()}, Spark 4.2.0, Delta 4.4.0, `local[2]`. One run each, after one that warms up. The table has row tracking.
Batches of 5,000 rows, as Arrow record batches unless it says dicts; `max_client_lag` 1 s. What was sent was counted in the table.

| rows a second | rows/s | rows | commits | seconds |
|---|---|---|---|---|
{_lines(_speed(one) for one in speeds)}

Single rows, in seconds from the call to the commit, and to the read of an append-only stream that has the row (the
stream is read in the same process, on the same cores, as soon as there is something):

| | rows | p50 | p99 |
|---|---|---|---|
{_lines(_wait(one) for one in waits)}

Memory with a disk that takes 2 s more for each commit, one sender that never stops (`when_full: block`), in MB:

| | MB |
|---|---|
{_lines(f"| {name} | {value / 1024 / 1024:.1f} |" for name, value in held.items())}

*process grew by* is the peak of the Python process, which holds a flush's rows once more while it sends them to Spark.
""")


def _lines(lines: Any) -> str:
    return "\n".join(lines)


def _speed(one: Any) -> str:
    return f"| {one.name} | {one.per_second:,.0f} | {one.rows:,} | {one.commits} | {one.seconds:.1f} |"


def _wait(one: Any) -> str:
    return f"| {one.name} | {one.rows} | {one.p50:.2f} | {one.p99:.2f} |"
