"""A session of its own for each test, and a model that has consumed once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from tests.consuming import CREATE, Model, make_source, path_table
from tests.spark.consume.world import World


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    return spark.newSession()


@pytest.fixture
def model(session: SparkSession, tmp_path: Path) -> Model:
    """A target that has consumed versions 0 and 1 of its source, as its version 0."""
    made = Model(session, path_table(tmp_path, "target"), {"s": make_source(session, path_table(tmp_path, "source"))})
    made.run(CREATE)
    return made


@pytest.fixture
def world(spark: SparkSession) -> Iterator[World]:
    made = World(spark.newSession(), f"faulty_{uuid4().hex[:8]}").make()
    yield made
    made.spark.sql(f"drop view if exists {made.stream}")
    for table in (made.source, made.target):
        made.spark.sql(f"drop table if exists {table}")
