"""Tables of other catalogs than Spark's own: streams cannot read their logs, and say so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes import changes
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import InvalidQuery

JDBC = {
    "": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    ".url": "jdbc:derby:memory:lake;create=true",
    ".driver": "org.apache.derby.jdbc.EmbeddedDriver",
}
SAID = "is in catalog lake: .*tables of the session catalog \\(spark_catalog\\), or delta.`/path/of/table`"


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """One with a catalog `lake`, and table default.not_in_lake in its own."""
    made = spark.newSession()
    for key, value in JDBC.items():
        made.conf.set(f"spark.sql.catalog.lake{key}", value)
    made.sql("create table default.not_in_lake (id int) using delta")
    yield made
    made.sql("drop table spark_catalog.default.not_in_lake")


@pytest.mark.parametrize("name", ["lake.default.t", "`lake`.`default`.`t`", "lake.a.b.t"])
def test_a_table_of_another_catalog(session: SparkSession, name: str) -> None:
    with pytest.raises(InvalidQuery, match=f"table {name} {SAID}"):
        TableLog(session, name)


def test_a_query_on_one(session: SparkSession) -> None:
    with pytest.raises(InvalidQuery, match=SAID):
        changes(session, "select * from lake.default.t", start=0)


def test_two_parts_are_in_the_catalog_in_use(session: SparkSession) -> None:
    """Delta would open the table of that name in the session catalog, which is another one."""
    session.sql("use lake")
    with pytest.raises(InvalidQuery, match=SAID):
        TableLog(session, "default.not_in_lake")


def test_the_session_catalog_by_its_name(session: SparkSession) -> None:
    for name in ("default.not_in_lake", "spark_catalog.default.not_in_lake", "SPARK_CATALOG.default.not_in_lake"):
        assert TableLog(session, name).version == 0
