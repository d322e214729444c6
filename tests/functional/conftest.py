"""`world`: the class's dbt project with its source schema; `prepare` in the class makes the tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.functional.projects import World


@pytest.fixture(scope="class")
def world(project: Any, spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[World]:
    made = World(project, spark)
    prepare = getattr(request.cls, "prepare", ())
    made.sql(*prepare)
    yield made
    made.drop()
