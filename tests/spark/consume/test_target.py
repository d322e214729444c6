"""What a consumption writes to is opened, or is not there: also while another run makes it."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.target import open_target
from dbt.adapters.streamspark.errors import MissingSource


@pytest.fixture
def name(spark: SparkSession) -> Iterator[str]:
    name = f"opened_{uuid4().hex[:8]}"
    yield name
    spark.sql(f"drop table if exists {name}")


def test_a_table_that_comes_while_it_is_looked_for_is_there(
    spark: SparkSession, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log was asked for before, the catalog after."""
    exists = type(spark.catalog).tableExists

    def made_before(catalog: object, table: str) -> bool:
        spark.sql(f"create table {name} (id int) using delta")
        return bool(exists(catalog, table))

    monkeypatch.setattr(type(spark.catalog), "tableExists", made_before)
    log = open_target(spark, name)
    assert log is not None and log.version == 0


def test_a_table_that_is_not_delta_is_an_error(spark: SparkSession, name: str) -> None:
    assert open_target(spark, name) is None
    spark.sql(f"create table {name} (id int) using parquet")
    with pytest.raises(MissingSource, match="not a Delta table"):
        open_target(spark, name)
