"""The demo: a year of flights loaded in rounds, `dbt build` after each, and a check that every consumer holds what a
full rebuild would give. The changes of queries (FEEDS) are compared by dbt's own test equals_full_refresh in each
build, all other consumers at the end, with what the archive alone tells.

    python integration_tests/demo.py

Starts from nothing each time: what an earlier demo left in spark-warehouse is removed first.
"""

import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date

import load
import nycflights
import rebuild
from build import BuildFailed, dbt_build
from commits import newest_version, rows_written
from pyspark.sql import SparkSession
from report import console, failure, headline, show_checks, show_rounds, step

from dbt.adapters.streamspark.errors import StreamsparkError


@dataclass(frozen=True)
class Round:
    """Loads day by day up to the close of `day`, then one `dbt build`."""

    title: str
    day: date


ROUNDS = (
    Round("the year up to 29 December", date(2013, 12, 29)),
    Round("30 December", date(2013, 12, 30)),
)
# A JVM that lives for minutes earns back less than its optimizing compiler costs; without that compiler it would keep
# too little room for compiled code. A heap that is large from the start is swept less often.
SHORT_RUN = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC -XX:InitialRAMPercentage=6 -XX:NewRatio=1"
)
FEEDS = ("storm_log", "airline_months_changes", "makers_changes", "worst_flights_changes")
CONSUMERS = (*rebuild.expected([ROUNDS[0].day]), *FEEDS)


def main() -> int:
    os.chdir(load.PROJECT)
    os.environ.setdefault("JDK_JAVA_OPTIONS", SHORT_RUN)
    started = time.monotonic()
    shutil.rmtree("spark-warehouse", ignore_errors=True)
    try:
        found = run()
    except (BuildFailed, StreamsparkError, nycflights.MissingData) as stopped:
        failure(str(stopped))
        return 1
    seconds = time.monotonic() - started
    console.print(f"{', '.join(FEEDS)}: compared in each build, by dbt's test equals_full_refresh.")
    console.print(f"\n{seconds:.0f} s. The tables are in integration_tests/spark-warehouse. Go on by hand in")
    console.print("integration_tests: dbt build, dbt show -s flights_stream, dbt docs generate.")
    return 0 if all(one.is_none for one in found.values()) else 1


def run() -> dict[str, rebuild.Difference]:
    """All rounds and the check; consumer -> how it differs from a full rebuild."""
    with step("Start Spark, read the archive"):
        spark = load.open_spark()
        nycflights.read_archive(spark)
    changed: dict[str, list[str]] = {consumer: [] for consumer in CONSUMERS}
    for number, one in enumerate(ROUNDS, 1):
        headline(f"Round {number} of {len(ROUNDS)}: {one.title}")
        bring_in(spark, one)
        build(spark, changed)
    show_rounds(changed)
    found = check(spark)
    show_checks(found)
    return found


def bring_in(spark: SparkSession, one: Round) -> None:
    """The loads of a round."""
    before = load.last_loaded(spark)
    with step("Load") as progress:
        if before is None:
            return load.first_load(spark, one.day)
        steps = list(load.days_after(before, one.day))
        for n, (yesterday, today) in enumerate(steps):
            progress(n, len(steps), str(today))
            load.next_load(spark, yesterday, today)


def build(spark: SparkSession, changed: dict[str, list[str]]) -> None:
    """`dbt build`; what it wrote is added to `changed`, per consumer."""
    before = {name: newest_version(spark, f"analytics.{name}") for name in CONSUMERS}
    with step("dbt build: streams, consumers, tests") as progress:
        dbt_build(progress)
    for name in CONSUMERS:
        changed[name].append(rows_written(spark, f"analytics.{name}", before[name]))


def check(spark: SparkSession) -> dict[str, rebuild.Difference]:
    """Every consumer against its full rebuild."""
    rebuilds = rebuild.expected([one.day for one in ROUNDS])

    def compared(name: str) -> rebuild.Difference:
        return rebuild.difference(spark, f"analytics.{name}", rebuilds[name])

    with step("Rebuild every consumer and compare") as progress, ThreadPoolExecutor() as pool:
        found = {}
        for name, difference in zip(rebuilds, pool.map(compared, rebuilds), strict=True):
            found[name] = difference
            progress(len(found), len(rebuilds), name)
    return found


if __name__ == "__main__":
    sys.exit(main())
