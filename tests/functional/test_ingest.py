"""End to end, in the project of flights: events through four channels, the sender killed in the middle, `dbt build`
while rows arrive."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.ingest.client import StreamingIngestClient
from tests.faults.harness.client import SHORT_RUN

PROJECT = Path(__file__).parents[2] / "integration_tests"
DAY, FIRST = date(2013, 12, 30), 400
LOG = "analytics.flight_log"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy, where nobody has run dbt yet."""
    copy = tmp_path / "project"
    shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns("spark-warehouse", "target", "logs", "__pycache__"))
    monkeypatch.chdir(copy)
    monkeypatch.syspath_prepend(str(copy))
    yield copy
    for name in ("events", "nycflights"):
        sys.modules.pop(name, None)


@pytest.fixture
def landing(spark: SparkSession, project: Path) -> Iterator[Path]:
    """Where `raw.flight_events` is, which has no rows yet."""
    import events

    session, path = spark.newSession(), project / "spark-warehouse" / "raw.db" / "flight_events"
    session.sql("create schema raw")
    session.sql(f"create table raw.flight_events ({events.COLUMNS}) using delta location '{path}'")
    yield path
    for schema in ("raw", "analytics"):
        session.sql(f"drop schema if exists {schema} cascade")


def test_a_model_equals_the_events_sent(spark: SparkSession, project: Path, landing: Path) -> None:
    import events

    told = events.events(DAY)[:FIRST]
    kill_in_the_middle(project, landing)
    build()
    assert 0 < spark.table(LOG).count() < FIRST
    go_on(spark, told)
    build()
    columns = list(told[0])
    found = spark.table(LOG).selectExpr(*columns, "unix_timestamp(happened_at) as seconds").collect()
    expected = [(*one.values(), int(one["happened_at"].timestamp())) for one in told]
    assert sorted(map(without_time, found)) == sorted(map(without_time, expected))


def without_time(row: Any) -> tuple[Any, ...]:
    """A timestamp, the second of nine values, is compared by its seconds alone, which are the last."""
    return (row[0], *row[2:])


def kill_in_the_middle(project: Path, landing: Path) -> None:
    """The sender runs until its second flush writes."""
    with (project / "sender.log").open("wb") as log:
        sender = subprocess.Popen(
            [sys.executable, "events.py", str(DAY), "--first", str(FIRST), "--pause", "0.5"],
            env={**os.environ, "PYTHONPATH": str(PROJECT.parent), "JDK_JAVA_OPTIONS": SHORT_RUN},
            start_new_session=True,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    end = time.monotonic() + 120
    while len(list(landing.glob("*.parquet"))) < 2:
        assert sender.poll() is None and time.monotonic() < end, (project / "sender.log").read_text()[-2000:]
        time.sleep(0.05)
    os.killpg(sender.pid, signal.SIGKILL)
    sender.wait()


def go_on(spark: SparkSession, told: list[dict[str, Any]]) -> None:
    """Another client sends what is missing, and dbt runs meanwhile."""
    import events

    errors: list[Exception] = []

    def rest() -> None:
        try:
            with StreamingIngestClient(spark.newSession(), "heir", "raw.flight_events", max_client_lag=0.2) as client:
                events.send(client, told, pause=0.2)
        except Exception as error:  # told by the test's own thread
            errors.append(error)

    thread = threading.Thread(target=rest)
    thread.start()
    build()
    thread.join(120)
    assert errors == [] and not thread.is_alive()


def build() -> None:
    """Streams, models and tests of what is built from events."""
    done = dbtRunner().invoke(["build", "--select", "source:raw.flight_events+", "--no-version-check"])
    assert done.success, [one.message for one in done.result or ()] or done.exception
