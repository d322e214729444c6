"""One Spark session for the whole pytest process, and dbt's own project fixtures on top of it.

`spark` starts at the first test that asks for it, directly or through dbt's `project`; unit tests do not.
Files marked `long`, with the minutes that they take about, come last. STREAMSPARK_TESTS_UNTIL, in seconds of the epoch, is
when no test is begun any more: CI, which has a limit, sets it, and what it left out is counted as skipped.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.launch import LaunchOptions

pytest_plugins = ["dbt.tests.fixtures.project"]

# The same examples in every run; others with --hypothesis-profile=default.
settings.register_profile("seeded", derandomize=True, deadline=None)
settings.load_profile("seeded")

UNTIL = float(os.environ.get("STREAMSPARK_TESTS_UNTIL", "inf"))

TEST_CONF = {
    "spark.driver.memory": "6g",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:tests;create=true",
    # No checksum of Hadoop's beside a log's file: to name either, and to write it, Hadoop starts five processes.
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    "spark.sql.session.timeZone": "UTC",
    # A job has something to tell its tasks, which takes a whole block, of which Spark's own size is 4 MB.
    "spark.broadcast.blockSize": "256k",
    # Over a few rows a query costs its planning: nothing is compiled for it, and it is planned once.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Most code is run a few times: only what is run five times as often as usual is worth the optimizing compiler, and what
    # waits for that compiler does not count how it is run meanwhile. It takes the less time the less it puts together. The
    # more code is kept, the less is compiled again.
    # Plans die young: with room for them a collection finds little alive, and seldom has to go through the old ones.
    # Hadoop starts processes, which Java would start by another one.
    "spark.driver.extraJavaOptions": " ".join(
        (
            "-XX:Tier4InvocationThreshold=25000 -XX:Tier4MinInvocationThreshold=5000 -XX:Tier4CompileThreshold=50000",
            "-XX:Tier4BackEdgeThreshold=250000 -XX:Tier3DelayOn=0 -XX:ReservedCodeCacheSize=512m",
            "-XX:MaxInlineLevel=9 -XX:FreqInlineSize=150 -XX:InlineSmallCode=1500",
            "-XX:+UseSerialGC -Xmn3g -XX:+UseTransparentHugePages",
            "-Djdk.lang.Process.launchMechanism=VFORK",
        )
    ),
    # What the user interface, which is off, would show of queries that have ended: their plans, as text.
    "spark.sql.ui.retainedExecutions": "20",
    "spark.ui.retainedStages": "200",
    "spark.ui.retainedTasks": "1000",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=minutes_of, reverse=True)


def minutes_of(item: pytest.Item) -> float:
    """What is not marked comes first, then the longest: two processes end at about the same time."""
    marker = item.get_closest_marker("long")
    return marker.kwargs["minutes"] if marker else math.inf


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    if time.time() > UNTIL:
        pytest.skip("no time left before STREAMSPARK_TESTS_UNTIL")


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="session")
def spark(warehouse: Path) -> Iterator[SparkSession]:
    """The base session; `spark.newSession()` gives one with confs and temporary views of its own."""
    options = LaunchOptions(warehouse=warehouse, master="local[2]", spark_config=TEST_CONF)
    session = launch.start(options)
    yield session
    launch.stop(session)


@pytest.fixture(scope="class")
def dbt_profile_target(spark: SparkSession, warehouse: Path) -> dict[str, Any]:
    """A profile whose runs find `spark` in this process and go on in it."""
    return {"type": "streamspark", "warehouse_dir": str(warehouse), "threads": 1}
