"""Ingest, measured: rows a second, and the time from append to commit and to a stream that sees the row.

    python -m benchmarks.ingest [--seconds 10] [--rounds 2] [--out docs/benchmarks]

Batches of 5,000 rows as Arrow record batches unless it says dicts. Each measure of speed is `--rounds` runs of
`--seconds` and what it takes to commit the rest; all measures take turns, after a round that warms up: a JVM gets
faster for minutes. With the defaults it takes about ten minutes. On a machine with other work the absolute numbers say
little.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from benchmarks.ingest_report import Run, write_report
from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.read import read_interval
from dbt.adapters.streamspark.ingest.client import StreamingIngestClient
from dbt.adapters.streamspark.launch import LaunchOptions
from dbt.adapters.streamspark.steps import on_step

BATCH = 5_000
MEGABYTE = 1024 * 1024
HELD = 64 * MEGABYTE  # what a sender that is faster than the disk has in memory when it stops
KINDS = ("bigint", "string", "double", "timestamp", "decimal(18,2)")


@dataclass(frozen=True)
class Speed:
    """`rows` committed in `seconds`, from the first append to the last commit."""

    name: str
    rows: int
    seconds: float
    commits: int

    @property
    def per_second(self) -> float:
        return self.rows / self.seconds

    def __add__(self, other: Speed) -> Speed:
        rows, seconds = self.rows + other.rows, self.seconds + other.seconds
        return replace(self, rows=rows, seconds=seconds, commits=self.commits + other.commits)


@dataclass(frozen=True)
class Latency:
    """Seconds, at the median and the 99th percentile, over `rows` single rows."""

    name: str
    lag: float
    rows: int
    p50: float
    p99: float


def batch(columns: int, rows: int = BATCH) -> pa.RecordBatch:
    """Rows of the five kinds, again and again."""
    moments = pa.array([1_700_000_000_000_000 + n for n in range(rows)], pa.timestamp("us", "UTC"))
    numbers = pa.array(range(rows), pa.int64())
    kinds = (
        numbers,
        pa.array([f"name of {n}" for n in range(rows)]),
        pa.array([n / 7 for n in range(rows)]),
        moments,
        numbers.cast(pa.decimal128(19, 0)).cast(pa.decimal128(18, 2), safe=False),
    )
    return pa.RecordBatch.from_arrays([kinds[n % 5] for n in range(columns)], names=names(columns))


def names(columns: int) -> list[str]:
    return [f"c{number}" for number in range(columns)]


class Bench:
    _tables = itertools.count()

    def __init__(self, spark: SparkSession, seconds: float):
        self.spark, self.seconds = spark, seconds

    def table(self, columns: int) -> str:
        name = f"bench_events_{next(self._tables)}"
        listed = ", ".join(f"{column} {KINDS[n % 5]}" for n, column in enumerate(names(columns)))
        self.spark.sql(f"create table {name} ({listed}) using delta tblproperties ('delta.enableRowTracking' = 'true')")
        return name

    def channels(self, count: int, columns: int, rows: Any = None, label: str = "") -> Speed:
        """One client, one sending thread, `count` channels in turn."""
        table, given = self.table(columns), batch(columns) if rows is None else rows
        with StreamingIngestClient(self.spark, "bench", table, max_buffered_bytes=HELD) as client:
            opened = list(client.open_channels([f"c{n}" for n in range(count)]).values())
            before, sent, start = TableLog(self.spark, table).version, 0, time.monotonic()
            for channel in itertools.cycle(opened):
                channel.append_rows(given, end_offset_token=str(sent))
                sent += BATCH
                if time.monotonic() - start >= self.seconds:
                    break
            client.wait_for_flush()
            seconds = time.monotonic() - start
        return Speed(
            label or f"{count} channel{'s' if count > 1 else ''}, {columns} columns",
            *self._landed(table, sent, before, seconds),
        )

    def appends(self, columns: int, every_second: bool) -> Speed:
        """An application that does one Spark append per batch, or that buffers what comes in a second at the rate
        asked for (100,000 rows) and appends that."""
        table, given = self.table(columns), batch(columns)
        before, sent, start = TableLog(self.spark, table).version, 0, time.monotonic()
        batches = 20 if every_second else 1
        while time.monotonic() - start < self.seconds:
            data = pa.Table.from_batches([given] * batches)
            self.spark.createDataFrame(data).write.format("delta").mode("append").saveAsTable(table)
            sent += BATCH * batches
        name = "buffered, one Spark append per 100,000 rows" if every_second else "one Spark append per batch"
        return Speed(f"{name}, {columns} columns", *self._landed(table, sent, before, time.monotonic() - start))

    def _landed(self, table: str, sent: int, before: int, seconds: float) -> tuple[int, float, int]:
        found = self.spark.table(table).count()
        if found != sent:
            raise SystemExit(f"{table}: {sent} rows were sent and {found} are there")
        return sent, seconds, TableLog(self.spark, table).version - before

    def latency(self, lag: float, count: int) -> list[Latency]:
        """Single rows, a few a second for some lags: when they are committed, and when a stream has read them."""
        table = self.table(5)
        with StreamingIngestClient(self.spark, "bench", table, max_client_lag=lag) as client:
            channel, _ = client.open_channel("c")
            row, sent, committed = batch(5, 1).to_pylist()[0], [], []

            def commits() -> None:
                for number in range(count):
                    channel.wait_for_commit(lambda token, least=number: token is not None and int(token) >= least)
                    committed.append(time.monotonic())

            waiting = threading.Thread(target=commits)
            with Watched(self.spark, table, count) as seen:
                waiting.start()
                for number in range(count):
                    sent.append(time.monotonic())
                    channel.append_row({**row, "c0": number}, str(number))
                    time.sleep(max(0.02, 4 * lag / count))
                waiting.join()
        return [
            _latency(f"append to commit, lag {lag:g} s", lag, sent, committed),
            _latency(f"append to seen in a stream, lag {lag:g} s", lag, sent, seen),
        ]

    def memory(self, limit: int) -> dict[str, float]:
        """A disk that takes a second for each commit: bytes of rows held at most, and what the process has grown."""
        stop = on_step(lambda step: time.sleep(1) if step == "before_commit" else None)
        table, given = self.table(5), batch(5)
        options = {"flush_bytes": limit // 4, "max_buffered_bytes": limit}
        try:
            with Resident() as grown, StreamingIngestClient(self.spark, "bench", table, **options) as client:
                channel, _ = client.open_channel("c")
                start = time.monotonic()
                while time.monotonic() - start < self.seconds:
                    channel.append_rows(_copy(given))
                client.wait_for_flush()
                held = client._memory.most_used
        finally:
            stop()
        return {
            "max_buffered_bytes": limit,
            "flush_bytes": limit // 4,
            "held at most": held,
            "process grew by": grown(),
        }


class Resident:
    """How many bytes the process takes at most within the block, above what it took before."""

    def __enter__(self) -> Callable[[], int]:
        self._before = self._most = _resident()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return lambda: self._most - self._before

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.05):
            self._most = max(self._most, _resident())


def _copy(rows: pa.RecordBatch) -> pa.RecordBatch:
    """With memory of its own."""
    return pa.ipc.read_record_batch(rows.serialize(), rows.schema)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


class Watched:
    """A stream that is read again and again while rows arrive; gives when each row was first seen."""

    def __init__(self, spark: SparkSession, table: str, count: int):
        self._spark, self._table, self._count = spark.newSession(), table, count
        self._seen: list[float] = []
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> list[float]:
        self._thread.start()
        return self._seen

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    def _watch(self) -> None:
        log = TableLog(self._spark, self._table)
        start = log.version
        while len(self._seen) < self._count:
            if log.refresh().version > start:
                found = read_interval(self._spark, log, start, log.version, mode="append_only").dataframe.count()
                start = log.version
                self._seen += [time.monotonic()] * found
            time.sleep(0.05)


def _latency(name: str, lag: float, sent: list[float], done: list[float]) -> Latency:
    waits = [end - start for start, end in zip(sent, done, strict=True)]
    cuts = quantiles(waits, n=100, method="inclusive")
    return Latency(name, lag, len(waits), cuts[49], cuts[98])


def speeds(bench: Bench) -> dict[str, Callable[[], Speed]]:
    rows = batch(5).to_pylist()
    cells: dict[str, Callable[[], Speed]] = {
        f"{columns} {count}": partial(bench.channels, count, columns) for columns in (5, 50) for count in (1, 10, 100)
    }
    return cells | {
        "dicts": partial(bench.channels, 1, 5, rows, "1 channel, 5 columns, dicts"),
        "append": partial(bench.appends, 5, every_second=False),
        "buffered": partial(bench.appends, 5, every_second=True),
    }


def measured(bench: Bench, rounds: int, chosen: Sequence[str]) -> list[Speed]:
    """Each round in the other direction, since who comes later has the faster JVM."""
    cells = {name: cell for name, cell in speeds(bench).items() if not chosen or name in chosen}
    found: dict[str, Speed] = {}
    for number in range(rounds):
        for name in sorted(cells, key=list(cells).index, reverse=bool(number % 2)):
            speed = _said(cells[name]())
            found[name] = found[name] + speed if name in found else speed
    return [found[name] for name in cells]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--lags", type=float, nargs="*", default=[1, 5, 30])
    parser.add_argument("--only", nargs="*", default=[], help="measures of speed: '5 1', '50 100', dicts, append, …")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        spark = launch.start(LaunchOptions(Path(root), master="local[2]", driver_memory="4g"))
        for count in (1, 100):
            Bench(spark, min(8, asked.seconds)).channels(count, 5)
        bench = Bench(spark, asked.seconds)
        held = _said(bench.memory(20 * MEGABYTE))
        found = measured(bench, asked.rounds, asked.only)
        waits = [_said(one) for lag in asked.lags for one in bench.latency(lag, 200)]
        launch.stop(spark)
    write_report(asked.out, Run(asked.seconds, asked.rounds, found, waits, held))


def _said(found: Any) -> Any:
    print(found, getattr(found, "per_second", ""), flush=True)
    return found


if __name__ == "__main__":
    main()
