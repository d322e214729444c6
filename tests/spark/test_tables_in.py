"""The tables of a schema, told apart from its views and from a session's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.streams.tables_in import tables_in


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    made = spark.newSession()
    made.sql("create schema listed")
    yield made
    spark.sql("drop schema listed cascade")


def test_views_are_no_tables_and_temporary_ones_hide_none(session: SparkSession) -> None:
    for name in ("orders", "people"):
        session.sql(f"create table listed.{name} (id int) using delta")
    session.sql("create view listed.people_v as select * from listed.people")
    for name in ("orders", "neither"):
        session.sql(f"create temporary view {name} as select 1 as id")
    assert sorted(tables_in(session, "listed")) == ["listed.orders", "listed.people"]
