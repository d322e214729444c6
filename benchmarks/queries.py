"""Change queries, measured: the changes of a query against what a user would write, side by side in one run.

    python -m benchmarks.queries [--scale 1] [--shares 0.0001,0.001,0.01,0.1] [--repeat 1] [--out docs/benchmarks]

For each share of the orders that changed (as many come, go and are updated, with their lines):
- *change query*: `changes()` and reading its result;
- *EXCEPT ALL*: the query at both ends, compared both ways;
- *query twice*: the query at both ends, not compared.

The first two must find the same number of changes, or the run stops.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import bit_xor, count, xxhash64

from benchmarks.query_report import WAYS, write_query_report
from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.changes import changes
from tests.tpch.data import QUERIES, TABLES, load, refresh

WIDE = """select o_orderkey, l_linenumber, c_name, c_mktsegment, o_orderdate, o_orderstatus, l_quantity, l_discount,
  l_extendedprice, l_shipdate
  from lineitem join orders on l_orderkey = o_orderkey join customer on o_custkey = c_custkey"""
PER_CUSTOMER = """select o_custkey, sum(l_extendedprice * (1 - l_discount)) as revenue, count(*) as lines
  from lineitem join orders on l_orderkey = o_orderkey group by o_custkey"""
CHOSEN = {
    "lineitem, orders, customer, wide": WIDE,
    "revenue per customer": PER_CUSTOMER,
    **{f"TPC-H {name}": QUERIES[name] for name in ("q03", "q04", "q05", "q13", "q18")},
}
Versions = dict[str, int]


@dataclass
class Measured:
    """One query at one share: the number of changed rows, and seconds by way."""

    query: str
    share: float
    changes: int = 0
    seconds: dict[str, float] = field(default_factory=dict)


class Bench:
    def __init__(self, spark: SparkSession, repeat: int):
        self.spark, self.repeat = spark, repeat

    def versions(self) -> Versions:
        return {table: self.spark.sql(f"describe history {table} limit 1").first()["version"] for table in TABLES}

    def refresh(self, number: int, share: float) -> tuple[Versions, Versions]:
        """Versions before and after one refresh."""
        before = self.versions()
        for statement in refresh(number, share):
            self.spark.sql(statement).collect()
        return before, self.versions()

    def at(self, query: str, versions: Versions) -> DataFrame:
        """The query at past versions, as a user would write it: each table by a CTE with its version."""
        pinned = (f"{table} as (select * from default.{table} version as of {v})" for table, v in versions.items())
        return self.spark.sql(f"with {', '.join(pinned)} {query}")

    def measure(self, name: str, share: float, before: Versions, after: Versions) -> Measured:
        query = CHOSEN[name]
        ways: dict[str, Callable[[], list[DataFrame]]] = {
            "change query": lambda: [changes(self.spark, query, before, after)],
            "EXCEPT ALL": lambda: list(self._compared(query, before, after)),
            "query twice": lambda: [self.at(query, before), self.at(query, after)],
        }
        runs = {way: [_timed(read) for _ in range(self.repeat)] for way, read in ways.items()}
        found = {way: runs[way][0][1] for way in WAYS[:2]}
        if len(set(found.values())) != 1:
            raise SystemExit(f"{name}, {share:.2%}: the ways do not agree: {found}")
        seconds = {way: median(taken for taken, _ in timed) for way, timed in runs.items()}
        return Measured(name, share, found["change query"], seconds)

    def _compared(self, query: str, before: Versions, after: Versions) -> Iterator[DataFrame]:
        """Two statements: in one, Spark 4.2 may trust a wrong partitioning (docs/reference/errors.md)."""
        yield self.at(query, before).exceptAll(self.at(query, after))
        yield self.at(query, after).exceptAll(self.at(query, before))


def _timed(read: Callable[[], list[DataFrame]]) -> tuple[float, int]:
    """Seconds of planning and reading every value, and the number of rows.

    Delta 4.4 refuses to write a past version with the format `noop`, so the values end in a hash.
    """
    begin, rows = time.perf_counter(), 0
    for frame in read():
        seen = frame.agg(count("*").alias("rows"), bit_xor(xxhash64(*frame.columns))).first()
        rows += seen["rows"]
    return time.perf_counter() - begin, rows


def _tell(one: Measured) -> None:
    seconds = {way: f"{taken:.1f} s" for way, taken in one.seconds.items()}
    print(f"{one.share:.2%} {one.query}: {one.changes} changes", seconds, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1, help="TPC-H scale factor")
    parser.add_argument("--shares", default="0.0001,0.001,0.01,0.1", help="shares of the orders that change")
    parser.add_argument("--repeat", type=int, default=1, help="timed runs of each way")
    parser.add_argument("--only", default="", help="run only the queries whose name holds this")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"), help="folder of the table and the plot")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        warehouse = Path(folder, "warehouse")
        spark = launch.start(launch.LaunchOptions(warehouse=warehouse, master="local[2]", driver_memory="8g"))
        load(spark, "default", options.scale, Path(folder, "tpch"), files=8)
        bench, done = Bench(spark, options.repeat), []
        for number, share in enumerate((float(text) for text in options.shares.split(",")), start=1):
            before, after = bench.refresh(number, share)
            if number == 1:
                bench.measure(next(iter(CHOSEN)), share, before, after)  # warms the JVM up
            for name in (name for name in CHOSEN if options.only in name):
                done.append(bench.measure(name, share, before, after))
                _tell(done[-1])
            write_query_report(options.out, done, options)  # what is measured is kept, whatever comes


if __name__ == "__main__":
    main()
