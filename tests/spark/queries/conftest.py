"""A history for one test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.queries.held import held_leaves
from tests.spark.queries.history import History


@pytest.fixture
def history(spark: SparkSession) -> Iterator[History]:
    made = History(spark, "query_traps")
    yield made
    made.drop()


@pytest.fixture
def held() -> Iterator[None]:
    """Tables are read once, for a test of many queries."""
    with held_leaves():
        yield
