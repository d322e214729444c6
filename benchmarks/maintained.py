"""Maintained tables, measured: what brings a table to what its query gives now, side by side in one run.

    python -m benchmarks.maintained [--scale 1] [--shares 0.001,0.01] [--kinds clustered,scattered] [--only wide,chain]
        [--ways rebuild,differential] [--warm 3] [--repeat 2] [--out numbers.json] [--report docs/benchmarks]

For each query of maintained_queries/, over the same tables:
- *rebuild*: a dbt model, `materialized='table'`;
- *differential*: `incremental_strategy='differential'`, which chooses by cost;
- *incremental*: the same with `refresh='incremental'`, which never rebuilds;
- *by hand* (`by_hand`): the keys that changed, from the change data feed (by_hand.py).
`chain` is four models each of which reads the one before, their seconds added. `customer_history` is a history of
customer: *apply_changes*, whatever the ways, and *by hand* (history.py).

Between two runs a share of the orders comes, goes and is updated, with their lines: *clustered* (new keys come, the
oldest go, the most recent are updated) or *scattered* (all over the table). The ways of dbt run in the order of their
names, and backwards by turns: the first takes longer, whichever it is, so `--repeat` is best even. After each run all
ways must hold the same rows, or the benchmark stops. Times of models are dbt's own; the median of `--repeat` refreshes
after `--warm` that compile code and tell *differential* what either of its ways takes. What each refresh took is
printed, those that warm up among them, and which way a model went, with its reason.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from dbt.cli.main import dbtRunner
from dbt_common.events.base_types import EventMsg
from pyspark.sql import SparkSession

from benchmarks import history
from benchmarks.by_hand import ByHand, switch_feed_on
from benchmarks.maintained_models import BY_HAND, QUERIES, WAYS, alike, query_and_way, texts
from benchmarks.maintained_report import write_report
from dbt.adapters.streamspark import launch
from tests.tpch.data import clustered, load, refresh

SCHEMA = "tpch"
ALL = (*WAYS, BY_HAND)
KINDS = {"clustered": clustered, "scattered": lambda number, share, scale: refresh(number, share)}
Seconds = dict[tuple[str, str], float]  # by query and way


@dataclass(frozen=True)
class Measured:
    """One query after one kind and share of changes: median seconds by way."""

    query: str
    kind: str
    share: float
    scale: float
    repeat: int
    seconds: dict[str, float]


class Bench:
    """`folder` holds the dbt project, whose models run in the session that is open."""

    def __init__(self, spark: SparkSession, folder: Path, queries: Sequence[str], ways: Sequence[str], scale: float):
        self.spark, self.folder, self.queries, self.ways, self.scale = spark, folder, queries, ways, scale
        self.hands: dict[str, Any] = {name: _by_hand(spark, name) for name in queries if BY_HAND in ways}

    def load(self, data: Path) -> None:
        self.spark.sql("drop schema if exists maintained cascade")
        load(self.spark, SCHEMA, self.scale, data, files=8)
        self.spark.sql(f"use {SCHEMA}")
        switch_feed_on(self.spark)
        history.load_source(self.spark)

    def write_project(self, warehouse: Path) -> None:
        self._write("dbt_project.yml", {"name": "maintained", "version": "1.0", "profile": "maintained"})
        dev = {"type": "streamspark", "schema": "maintained", "warehouse_dir": str(warehouse), "threads": 1}
        self._write("profiles.yml", {"maintained": {"target": "dev", "outputs": {"dev": dev}}})
        (self.folder / "models").mkdir()
        for query in self.queries:
            for model, text in texts(query, self.ways).items():
                (self.folder / "models" / f"{model}.sql").write_text(text)

    def _write(self, name: str, value: dict[str, Any]) -> None:
        (self.folder / name).write_text(json.dumps(value))

    def build(self) -> None:
        _print_refresh(0, self._dbt_run())
        for hand in self.hands.values():
            hand.build()
        self._check()

    def refresh(self, backwards: bool) -> Seconds:
        """Stops where a model fails, or the ways differ."""
        seconds = self._dbt_run(backwards)
        for query, hand in self.hands.items():
            seconds[query, BY_HAND] = hand.refresh()
        self._check()
        return seconds

    def _dbt_run(self, backwards: bool = False) -> Seconds:
        """The seconds of a query's models are added up."""
        ways = {query_and_way(model)[1] for query in self.queries for model in texts(query, self.ways)}
        seconds: Seconds = Counter()  # type: ignore[assignment]
        for one in (one for way in sorted(ways, reverse=backwards) for one in self._results(way)):
            seconds[query_and_way(one.node.name)] += one.execution_time
        return seconds

    def _results(self, way: str) -> Iterable[Any]:
        folder = str(self.folder)
        project = ["--project-dir", folder, "--profiles-dir", folder, "--quiet", "--no-use-colors"]
        outcome = dbtRunner(callbacks=[_print_choice]).invoke(["run", "--select", f"*__{way}", *project])
        if not outcome.success:
            raise SystemExit("dbt run failed")
        return outcome.result

    def _check(self) -> None:
        for tables in (tables for query in self.queries for tables in alike(query, self.ways)):
            columns = self.spark.sql(f"select * from {tables[0]} limit 0").columns
            held = {table: self._held(table, columns) for table in tables}
            if len(set(held.values())) > 1:
                raise SystemExit(f"these do not hold the same rows: {held}")

    def _held(self, table: str, columns: Sequence[str]) -> tuple[Any, ...]:
        """The number of rows and the sum of their hashes: alike for tables of the same rows, in whatever order."""
        listed = ", ".join(columns)
        hashes = f"sum(cast(xxhash64({listed}) as decimal(38)))"
        return tuple(self.spark.sql(f"select count(*), {hashes} from {table}").first())

    def _change(self, kind: str, number: int, share: float) -> None:
        """Only what the queries read. Stops where a DELETE or UPDATE finds no rows: what follows would be measured
        without changes."""
        orders = KINDS[kind](number, share, self.scale) if {*self.queries} - {history.NAME} else ()
        customers = history.refresh_source(number, share) if history.NAME in self.queries else ()
        for statement in [*orders, *customers]:
            if [0] in map(list, self.spark.sql(statement).collect()):
                raise SystemExit(f"no row changed: {statement}")

    def measure(self, kind: str, share: float, warm: int, repeat: int) -> Iterator[Measured]:
        runs = []
        for number in range(1, warm + repeat + 1):
            self._change(kind, number, share)
            runs.append(self.refresh(backwards=number % 2 == 0))
            _print_refresh(number, runs[-1])
        for query in self.queries:
            seconds = {way: median(run[name, way] for run in runs[warm:]) for name, way in runs[0] if name == query}
            yield Measured(query, kind, share, self.scale, repeat, seconds)


def _by_hand(spark: SparkSession, query: str) -> Any:
    return history.HistoryByHand(spark) if query == history.NAME else ByHand(spark, QUERIES[query])


def _print_refresh(number: int, seconds: Seconds) -> None:
    """0 is the build, in which the ways of a query come first in the order of their names."""
    print(json.dumps({"refresh": number, **{" ".join(name): took for name, took in seconds.items()}}), flush=True)


def _print_choice(event: EventMsg) -> None:
    """What a differential model says of itself, which --quiet keeps to dbt's own log."""
    if re.search(r": (made anew|by changes), ", event.info.msg):
        print(event.info.msg, flush=True)


def measured(options: argparse.Namespace, kind: str, share: float, folder: Path) -> Iterator[Measured]:
    """Tables of their own for each kind and share, so that no measurement depends on the one before."""
    queries = [name for name in QUERIES if any(part in name for part in options.only.split(","))]
    project = Path(tempfile.mkdtemp(dir=folder))
    bench = Bench(options.spark, project, queries, options.ways.split(","), options.scale)
    bench.load(folder / "tpch")
    bench.write_project(folder / "warehouse")
    bench.build()
    yield from bench.measure(kind, share, options.warm, options.repeat)


def main() -> None:
    options = _parser().parse_args()
    done: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options.spark = launch.start(launch.LaunchOptions(folder / "warehouse", "local[2]", driver_memory="4g"))
        for kind, share in product(options.kinds.split(","), options.shares.split(",")):
            for one in measured(options, kind, float(share), folder):
                done.append(asdict(one))
                print(json.dumps(done[-1]), flush=True)
            _write(done, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1, help="TPC-H scale factor")
    parser.add_argument("--shares", default="0.001", help="shares of the orders that change")
    parser.add_argument("--kinds", default="clustered", help="clustered, scattered")
    parser.add_argument("--only", default="", help="only queries whose name holds one of these parts")
    parser.add_argument("--ways", type=_ways, default=",".join(ALL), help=f"some of {', '.join(ALL)}")
    parser.add_argument("--warm", type=int, default=3, help="refreshes before those that are timed")
    parser.add_argument("--repeat", type=int, default=2, help="timed refreshes, best an even number")
    parser.add_argument("--out", type=Path, help="a JSON file for what was measured")
    parser.add_argument("--report", type=Path, help="a folder for the table and the plot")
    return parser


def _ways(text: str) -> str:
    unknown = set(text.split(",")) - set(ALL)
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    return text


def _write(done: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """After each share, so that a run that is cut off loses no share it has measured."""
    if options.out:
        options.out.write_text(json.dumps(done, indent=1) + "\n")
    if options.report:
        write_report(options.report, done)


if __name__ == "__main__":
    main()
