"""Maintained models, measured: dbt runs that bring a table to what its query gives now, side by side in one run.

    python -m benchmarks.maintained [--scale 1] [--shares 0.001] [--kinds clustered] [--only wide] [--repeat 2]

For each query of maintained_queries/, three models over the same tables:
- *rebuild*: `materialized='table'`;
- *differential*: `incremental_strategy='differential'`, which chooses by cost;
- *incremental*: the same with `refresh='incremental'`, which never rebuilds.

Between two dbt runs a share of the orders comes, goes and is updated, with their lines: *clustered* (new keys come, the
oldest go, the most recent are updated) or *scattered* (all over the table). After each run all three must hold
the same rows, or the benchmark stops. Times are dbt's own, per model; the median of `--repeat` refreshes after one that
only warms up.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from dbt.adapters.streamspark import launch
from tests.tpch.data import clustered, load, refresh

SCHEMA = "tpch"
QUERIES = {path.stem: path.read_text() for path in sorted(Path(__file__).parent.glob("maintained_queries/*.sql"))}
KEYS = {
    "wide": ["l_orderkey", "l_linenumber"],
    "revenue_per_customer": ["o_custkey"],
    "revenue_per_nation_and_month": ["n_name", "month"],
    "customers_without_open_orders": ["c_custkey"],
    "largest_orders_per_customer": ["o_orderkey"],
}
KINDS = {"clustered": clustered, "scattered": lambda number, share, scale: refresh(number, share)}
MAINTAINED = "materialized='incremental', incremental_strategy='differential', unique_key={key}"
WAYS = {
    "rebuild": "materialized='table'",
    "differential": MAINTAINED,
    "incremental": MAINTAINED + ", refresh='incremental'",
}


@dataclass(frozen=True)
class Measured:
    """One query after one kind and share of changes: median seconds by way."""

    query: str
    kind: str
    share: float
    seconds: dict[str, float]


@dataclass(frozen=True)
class Bench:
    """`folder` holds the dbt project, whose models run in the session that is open."""

    spark: SparkSession
    folder: Path
    queries: tuple[str, ...]
    scale: float

    def write_project(self, warehouse: Path) -> None:
        self._write("dbt_project.yml", {"name": "maintained", "version": "1.0", "profile": "maintained"})
        dev = {"type": "streamspark", "schema": "maintained", "warehouse_dir": str(warehouse), "threads": 1}
        self._write("profiles.yml", {"maintained": {"target": "dev", "outputs": {"dev": dev}}})
        (self.folder / "models").mkdir()
        for name in self.queries:
            for way, config in WAYS.items():
                text = f"{{{{ config({config.format(key=KEYS[name])}) }}}}\n{QUERIES[name]}"
                (self.folder / "models" / f"{name}__{way}.sql").write_text(text)

    def _write(self, name: str, value: dict[str, Any]) -> None:
        (self.folder / name).write_text(json.dumps(value))

    def build(self) -> dict[str, float]:
        """One `dbt run`: seconds by model. Stops where a model fails or a query's models differ."""
        folder = str(self.folder)
        arguments = ["run", "--project-dir", folder, "--profiles-dir", folder, "--quiet", "--no-use-colors"]
        outcome = dbtRunner().invoke(arguments)
        if not outcome.success:
            raise SystemExit("dbt run failed")
        for name in self.queries:
            self._check(name)
        return {one.node.name: one.execution_time for one in outcome.result}

    def _check(self, name: str) -> None:
        columns = self.spark.table(f"maintained.{name}__rebuild").columns
        held = {way: self._held(f"maintained.{name}__{way}", columns) for way in WAYS}
        if len(set(held.values())) > 1:
            raise SystemExit(f"{name}: the ways do not hold the same rows: {held}")

    def _held(self, table: str, columns: Sequence[str]) -> tuple[Any, ...]:
        """The number of rows and the sum of their hashes: alike for tables of the same rows, in whatever order."""
        listed = ", ".join(columns)
        hashes = f"sum(cast(xxhash64({listed}) as decimal(38)))"
        return tuple(self.spark.sql(f"select count(*), {hashes} from {table}").first())

    def measure(self, kind: str, share: float, repeat: int) -> Iterator[Measured]:
        runs = []
        for number in range(repeat + 1):
            for statement in KINDS[kind](number + 1, share, self.scale):
                self.spark.sql(statement).collect()
            runs.append(self.build())
        for name in self.queries:
            seconds = {way: median(run[f"{name}__{way}"] for run in runs[1:]) for way in WAYS}
            yield Measured(name, kind, share, seconds)


def measured(options: argparse.Namespace, kind: str, share: float, folder: Path) -> Iterator[Measured]:
    """Tables of their own for each kind and share, so that no measurement depends on the one before."""
    queries = tuple(name for name in QUERIES if options.only in name)
    bench = Bench(options.spark, folder, queries, options.scale)
    load(bench.spark, SCHEMA, options.scale, options.data, files=8)
    bench.spark.sql(f"use {SCHEMA}")
    bench.spark.sql("drop schema if exists maintained cascade")
    bench.write_project(options.warehouse)
    bench.build()
    yield from bench.measure(kind, share, options.repeat)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1, help="TPC-H scale factor")
    parser.add_argument("--shares", default="0.001", help="shares of the orders that change")
    parser.add_argument("--kinds", default="clustered", help="clustered, scattered")
    parser.add_argument("--only", default="", help="only the queries whose name holds this")
    parser.add_argument("--repeat", type=int, default=2, help="timed refreshes")
    parser.add_argument("--out", type=Path, help="a JSON file for what was measured")
    options = parser.parse_args()
    done = []
    with tempfile.TemporaryDirectory() as folder:
        options.warehouse, options.data = Path(folder, "warehouse"), Path(folder, "tpch")
        options.spark = launch.start(launch.LaunchOptions(options.warehouse, master="local[2]", driver_memory="4g"))
        for kind in options.kinds.split(","):
            for share in (float(text) for text in options.shares.split(",")):
                project = Path(folder, f"project_{len(done)}")
                project.mkdir()
                for one in measured(options, kind, share, project):
                    done.append(asdict(one))
                    print(json.dumps(done[-1]), flush=True)
    if options.out:
        options.out.write_text(json.dumps(done, indent=1) + "\n")


if __name__ == "__main__":
    main()
