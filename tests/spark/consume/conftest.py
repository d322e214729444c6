"""A session of its own for each test, and a model that has consumed once."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.consuming import CREATE, Model, make_source, path_table


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    return spark.newSession()


@pytest.fixture
def model(session: SparkSession, tmp_path: Path) -> Model:
    """A target that has consumed versions 0 and 1 of its source, as its version 0."""
    made = Model(session, path_table(tmp_path, "target"), {"s": make_source(session, path_table(tmp_path, "source"))})
    made.run(CREATE)
    return made
