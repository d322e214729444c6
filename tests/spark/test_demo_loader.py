"""The demo's loader, INSERT by MERGE by DELETE, arrives where the archive says that the day ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

DEMO = Path(__file__).parents[2] / "integration_tests"
FIRST, NEXT, LAST = date(2013, 12, 4), date(2013, 12, 5), date(2013, 12, 7)


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(DEMO))
    import load

    yield load
    for name in ("load", "events", "history", "nycflights"):
        sys.modules.pop(name, None)


@pytest.fixture
def archive(spark: SparkSession, demo: Any) -> Iterator[SparkSession]:
    """A week of the archive, small enough for a test."""
    session = spark.newSession()
    demo.nycflights.read_archive(session)
    for view, day in (("archive_flights", "flight_date"), ("archive_weather", "observed_on")):
        week = session.table(view).where(f"{day} between date'2013-12-02' and date'{LAST}'")
        week.createOrReplaceTempView(view)
    yield session
    session.sql("drop schema if exists raw cascade")
    session.catalog.clearCache()


def test_loads_of_a_day_and_of_several_end_where_the_archive_says(archive: SparkSession, demo: Any) -> None:
    demo.first_load(archive, FIRST)
    assert list(demo.days_after(FIRST, NEXT)) == [(FIRST, NEXT)]
    demo.next_load(archive, FIRST, NEXT)
    demo.next_load(archive, NEXT, LAST)
    assert demo.last_loaded(archive) == LAST
    assert_tables_at(archive, demo.history, LAST)


def assert_tables_at(spark: SparkSession, history: Any, day: date) -> None:
    tables = {"flights": history.flights_at, "weather": history.weather_at, "planes": history.planes_at}
    for table, state in tables.items():
        expected = spark.sql(state(day))
        found = spark.table(f"raw.{table}").select(expected.columns)
        assert found.exceptAll(expected).count() == 0, f"{table} holds more on {day}"
        assert expected.exceptAll(found).count() == 0, f"{table} lacks rows on {day}"
