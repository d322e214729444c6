"""The loader: brings the tables of schema `raw` to the close of a day, the way an operational system
would, with INSERT, MERGE and DELETE in commits of their own.

    python load.py 2013-12-29      # first load: the tables are made
    python load.py 2013-12-30      # goes on from there, day by day

Then `dbt build` consumes what came. (One after the other: the catalog lets in one process at a time.)
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import events
import history
import nycflights
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.launch import LaunchOptions
from dbt.adapters.streamspark.session import thread_session

PROJECT = Path(__file__).parent.resolve()
WITH_VECTORS = "tblproperties ('delta.enableDeletionVectors' = 'true')"
SAME_FLIGHT = " and ".join(f"old.{c} = new.{c}" for c in history.FLIGHT_KEY)


def open_spark() -> SparkSession:
    """The warehouse of this project: the one that dbt opens with profiles.yml, and in the same process
    the very session."""
    return thread_session(LaunchOptions(PROJECT / "spark-warehouse")).spark


def last_loaded(spark: SparkSession) -> date | None:
    """The day that the tables stand at the close of; None before the first load."""
    if not spark.catalog.tableExists("raw.flights"):
        return None
    return spark.sql("select max(flight_date) from raw.flights").head()[0]


def first_load(spark: SparkSession, day: date) -> None:
    """Make the five tables as they stood at the close of `day`, and the one that events are sent to."""
    spark.sql("create schema if not exists raw")
    tables = {
        "flights": history.flights_at(day),
        "planes": history.planes_at(day),
        "weather": history.weather_at(day),
        "airlines": "select * from archive_airlines",
        "airports": "select * from archive_airports",
    }
    at_once(
        spark,
        [
            [f"create or replace table raw.{table} {WITH_VECTORS} as {_in_few_files(table, rows)}"]
            for table, rows in tables.items()
        ]
        + [[f"create or replace table raw.flight_events ({events.COLUMNS}) using delta"]],
    )


def _in_few_files(table: str, rows: str) -> str:
    """The board by date, so that what concerns yesterday is in the last file alone."""
    hint = "repartition_by_range(4, flight_date)" if table == "flights" else "coalesce(1)"
    return f"select /*+ {hint} */ * from ({rows})"


def next_load(spark: SparkSession, before: date, day: date) -> None:
    """Bring the tables from the close of `before` to the close of `day`."""
    at_once(spark, [flights(before, day), weather(before, day), planes(before, day)])


def at_once(spark: SparkSession, tables: list[list[str]]) -> None:
    """The statements of each table in order, the tables side by side."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda statements: [spark.sql(one) for one in statements], tables))


def flights(before: date, day: date) -> list[str]:
    """Between the close of two days: arrivals are filled in, cancelled flights taken off, new ones put on."""
    return [
        f"merge into raw.flights old using ({history.arrivals_of(before)}) new "
        f"on {SAME_FLIGHT} and old.flight_date = date'{before}' when matched then "
        "update set arr_time = new.arr_time, arr_delay = new.arr_delay, air_time = new.air_time",
        f"delete from raw.flights where flight_date = date'{before}' and dep_time is null",
        f"insert into raw.flights {history.flights_at(day, after=before)}",
    ]


def weather(before: date, day: date) -> list[str]:
    return [f"insert into raw.weather {history.weather_at(day, after=before)}"]


def planes(before: date, day: date) -> list[str]:
    return [
        f"merge into raw.planes old using ({history.planes_at(day, after=before)}) new "
        "on old.tailnum = new.tailnum "
        "when matched then update set last_flown = new.last_flown when not matched then insert *"
    ]


def days_after(before: date, day: date) -> Iterator[tuple[date, date]]:
    """(yesterday, today) for each day after `before` up to `day`."""
    for n in range((day - before).days):
        yield before + timedelta(n), before + timedelta(n + 1)


def main(argument: str) -> None:
    day = date.fromisoformat(argument)
    spark = open_spark()
    nycflights.read_archive(spark)
    before = last_loaded(spark)
    if before is None:
        first_load(spark, day)
        print(f"raw: made as of {day}")
        return
    for yesterday, today in days_after(before, day):
        next_load(spark, yesterday, today)
        print(f"raw: {today}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
