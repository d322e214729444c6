"""A session of its own for each test, and a model that has consumed once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from tests.consuming import CREATE, Model, make_source, path_table
from tests.copies import copied
from tests.spark.consume.world import World


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    return spark.newSession()


def model_in(path: Path, session: SparkSession) -> Model:
    return Model(session, path_table(path, "target"), {"s": path_table(path, "source")})


@pytest.fixture(scope="session")
def made_model(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    model = model_in(path, spark.newSession())
    make_source(model.spark, model.sources["s"])
    model.run(CREATE)
    return path


@pytest.fixture
def model(session: SparkSession, made_model: Path, tmp_path: Path) -> Model:
    """A target that has consumed versions 0 and 1 of its source, as its version 0."""
    return model_in(copied(made_model, tmp_path), session)


@pytest.fixture
def world(spark: SparkSession) -> Iterator[World]:
    made = World(spark.newSession(), f"faulty_{uuid4().hex[:8]}").make()
    yield made
    made.spark.sql(f"drop view if exists {made.stream}")
    for table in (made.source, made.target):
        made.spark.sql(f"drop table if exists {table}")
