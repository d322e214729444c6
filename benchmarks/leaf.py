"""The leaf, measured: four ways to read one table's changes, side by side in one run.

    python benchmarks/leaf.py [--rows 4000000] [--repeat 3] [--out docs/benchmarks]

Every way must find the same number of changes, or the run stops. Times are whole reads (planning, log and scan,
into Spark's noop sink), the median of `--repeat` rounds of all ways after two that only warm up: a JVM gets faster for
minutes, and who comes first would lose. Ratios matter, absolute times do not.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame, SparkSession

from benchmarks.report import Measured, write_report
from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.read import read_interval

ROW = (
    "id",
    "cast(id % 1000 as int) as k",
    "concat('name of ', id) as a",
    "id / 7 as b",
    "timestamp_seconds(1700000000 + id) as c",
    "cast(id as decimal(18,2)) as d",
)
WARM_UP = 2
Read = Callable[[], DataFrame]


@dataclass
class Case:
    """One interval of one table; `reads` are the ways that can read it, `seconds` what they took."""

    name: str
    reads: dict[str, Read] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    changes: int = 0


class Bench:
    def __init__(self, spark: SparkSession, rows: int, repeat: int):
        self.spark, self.rows, self.repeat = spark, rows, repeat

    def create(self, name: str, rows: int, files: int, **properties: str) -> None:
        tracked = {"enableRowTracking": "true", "enableChangeDataFeed": "true", **properties}
        listed = ", ".join(f"'delta.{key}' = '{value}'" for key, value in tracked.items())
        self.spark.sql(f"drop table if exists {name}")
        self.spark.sql(
            f"create table {name} (id bigint, k int, a string, b double, c timestamp, d decimal(18,2)) "
            f"using delta tblproperties ({listed})"
        )
        self.insert(name, 0, rows, files)

    def insert(self, name: str, first: int, rows: int, files: int) -> None:
        frame = self.spark.range(first, first + rows, numPartitions=files).selectExpr(*ROW)
        frame.write.insertInto(name)

    def run(self, *statements: str) -> None:
        for statement in statements:
            self.spark.sql(statement).collect()

    def case(self, name: str, table: str, start: int = 1) -> Case:
        reads: dict[str, Read] = {
            "endpoint diff": lambda: self.read(table, start, "endpoint_diff"),
            "native netChanges": lambda: self.native(table, start),
            "CDF + window": lambda: self.feed(table, start),
            "snapshot diff": lambda: self.read(table, start, "snapshot_diff"),
        }
        return Case(name, reads)

    def read(self, table: str, start: int, reader: str) -> DataFrame:
        log = TableLog(self.spark, table)
        return read_interval(self.spark, log, start, log.version, reader=reader).dataframe

    def native(self, table: str, start: int) -> DataFrame:
        return self.spark.sql(
            f"select * from {table} changes from version {start} exclusive "
            "with (deduplicationMode = 'netChanges', computeUpdates = 'true')"
        )

    def feed(self, table: str, start: int) -> DataFrame:
        """What a user writes today: the feed, the first and the last event of each key."""
        order = "_commit_version * 2 + if(_change_type in ('insert', 'update_postimage'), 1, 0)"
        events = self.spark.sql(
            f"select *, row_number() over (partition by id order by {order}) as first_event, "
            f"row_number() over (partition by id order by {order} desc) as last_event "
            f"from table_changes('{table}', {start + 1})"
        )
        old = "first_event = 1 and _change_type in ('delete', 'update_preimage')"
        return events.where(f"({old}) or (last_event = 1 and _change_type in ('insert', 'update_postimage'))")

    def measure(self, case: Case) -> None:
        counts = {way: read().count() for way, read in case.reads.items()}
        if len({count for way, count in counts.items() if way != "plain scan"}) != 1:
            raise SystemExit(f"{case.name}: the ways do not agree: {counts}")
        case.changes = counts["endpoint diff"]
        rounds = [{way: self._timed(read) for way, read in case.reads.items()} for _ in range(WARM_UP + self.repeat)]
        case.seconds = {way: median(round[way] for round in rounds[WARM_UP:]) for way in case.reads}

    def _timed(self, read: Read) -> float:
        begin = time.perf_counter()
        read().write.format("noop").mode("overwrite").save()
        return time.perf_counter() - begin


def small_commits(bench: Bench, name: str, vectors: str) -> Case:
    """Seven small commits on a table of forty files."""
    table, rows = f"default.small_commits_{vectors}", bench.rows
    bench.create(table, rows, 40, enableDeletionVectors=vectors)
    bench.run(
        f"update {table} set b = b + 1 where id % {rows // 40} = 7",
        f"delete from {table} where id between 1000 and 1999",
    )
    bench.insert(table, rows, 1000, 1)
    bench.run(
        f"update {table} set a = 'changed' where id between 50000 and 50499",
        f"delete from {table} where id % {rows // 20} = 11",
    )
    bench.insert(table, rows + 1000, 1000, 1)
    bench.run(f"update {table} set k = -1 where id = 42")
    return bench.case(name, table)


def twenty_commits(bench: Bench, name: str) -> Case:
    """Twenty commits that each rewrite the same five files."""
    table, rows = "default.twenty_commits", bench.rows // 2
    bench.create(table, rows, 5, enableDeletionVectors="false")
    for number in range(20):
        bench.run(f"update {table} set b = {number} + 0.5 where id % {rows // 50} = {number}")  # always another value
    return bench.case(name, table)


def inserts(bench: Bench, name: str, added: int, removed: int) -> Case:
    """The paper's Table 3: so many files added, none or one removed."""
    table = f"default.inserts_{added}_{removed}"
    bench.create(table, 100_000, 4, enableDeletionVectors="false")
    bench.insert(table, 10**7, 1000 * added, added)
    if removed:
        bench.run(f"update {table} set b = 0 where id = 1")
    case = bench.case(name, table)
    if not removed:
        case.reads["plain scan"] = lambda: bench.spark.sql(f"select * from {table} where id >= {10**7}")
    return case


def large_table(bench: Bench, name: str, files: int) -> Case:
    """One file added to a table of `files` files: the cost must not follow the table."""
    table = f"default.files_{files}"
    bench.create(table, files * 10, files, enableDeletionVectors="false")
    bench.insert(table, 10**9, 1000, 1)
    case = bench.case(name, table)
    return Case(name, {"endpoint diff": case.reads["endpoint diff"]})


def cases(rows: int) -> dict[str, Callable[[Bench, str], Case]]:
    """Name -> what builds the case. Built one by one, so that a choice of them costs only what it needs."""
    millions = f"{rows / 10**6:g} M rows, 40 files, 7 small commits"
    chosen: dict[str, Callable[[Bench, str], Case]] = {
        f"{millions}, copy on write": partial(small_commits, vectors="false"),
        f"{millions}, deletion vectors": partial(small_commits, vectors="true"),
        f"{rows / 2 / 10**6:g} M rows, 20 commits over the same 5 files": twenty_commits,
    }
    for removed in (0, 1):
        for added in (1, 10, 100, 1000):
            name = f"{added} files added, {removed} removed"
            chosen[name] = partial(inserts, added=added, removed=removed)
    for files in (10, 10_000):
        chosen[f"1 file added to a table of {files} files"] = partial(large_table, files=files)
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of the large table")
    parser.add_argument("--repeat", type=int, default=3, help="timed rounds")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"), help="folder of the table and the plot")
    parser.add_argument("--only", default="", help="measure only the cases whose name holds this, keep the others")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as warehouse:
        session = launch.start(launch.LaunchOptions(warehouse=Path(warehouse), master="local[2]", driver_memory="6g"))
        session.conf.set("spark.databricks.delta.changelogV2.enabled", "true")
        bench = Bench(session, options.rows, options.repeat)
        for name, build in cases(options.rows).items():
            if options.only in name:
                case = build(bench, name)
                bench.measure(case)
                seconds = {way: f"{s:.2f} s" for way, s in case.seconds.items()}
                print(case.name, f"({case.changes} changes)", seconds, flush=True)
                write_report(options.out, Measured(case.name, case.changes, case.seconds), options)


if __name__ == "__main__":
    main()
