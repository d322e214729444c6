"""The tables of a schema."""

from __future__ import annotations

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.streams.names import table_sql


def tables_in(spark: SparkSession, schema: str) -> list[str]:
    """By `schema.name`, without views. Two statements: Spark's own list with types opens each of the tables. Both
    list the session's temporary views too, which are in no schema and may be called like a table of this one."""
    listed = spark.sql(f"show views in {table_sql(schema)}").collect()
    views = {row["viewName"] for row in listed if not row["isTemporary"]}
    tables = spark.sql(f"show tables in {table_sql(schema)}").collect()
    names = (row["tableName"] for row in tables if not row["isTemporary"])
    return [f"{schema}.{name}" for name in names if name not in views]
