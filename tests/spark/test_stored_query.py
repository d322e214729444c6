"""Which tables a stored query is opened on again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.errors import StaleSource
from dbt.adapters.streamspark.streams.stored_query import reopened, stored
from tests.consuming import clean_log, newest

NAME = "stored.people"


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    made = spark.newSession()
    made.sql("create database stored")
    yield made
    made.sql("drop database stored cascade")


def make(session: SparkSession) -> tuple[str, Frontier]:
    """The table under the name, replaced if there is one: the stored query on it, and the point where it is."""
    session.sql(f"create or replace table {NAME} using delta as select 1 as id")
    query = ChangeQuery(session, NAME)
    return stored(query), query.frontier(None)


def test_a_replaced_table_whose_log_tells_of_the_new_one_alone(session: SparkSession) -> None:
    text, made = make(session)
    _, later = make(session)
    clean_log(session, NAME, before=newest(session, NAME))
    assert [log.version for log in reopened(session, "s", text, made, later).logs] == [1]
    with pytest.raises(StaleSource):
        reopened(session, "s", text, made)


def test_a_point_in_the_table_that_had_the_name_before_is_none_in_this_one(session: SparkSession) -> None:
    _, before = make(session)
    session.sql(f"alter table {NAME} rename to stored.away")
    text, made = make(session)
    assert [log.version for log in reopened(session, "s", text, made, before).logs] == [0]
    make(session)
    clean_log(session, NAME, before=1)
    with pytest.raises(StaleSource):  # not the table that has gone away
        reopened(session, "s", text, made, before)
