"""The type in which Spark compares values of two types: `=` casts one side or both, by rules of the session."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from dbt.adapters.streamspark.changes.projection import type_sql


def compared_as(spark: SparkSession, left: DataType, right: DataType) -> str:
    """The type as SQL. Spark is asked, since its rules depend on the session: an int and a text are compared as bigint
    in ANSI mode, as int otherwise."""
    columns = f"select cast(null as {type_sql(left)}) as a, cast(null as {type_sql(right)}) as b"
    plan = spark.sql(f"select a = b as equal from ({columns})")._jdf.queryExecution().analyzed()
    return str(plan.expressions().head().child().left().dataType().sql())


def is_ansi(spark: SparkSession) -> bool:
    return spark.conf.get("spark.sql.ansi.enabled") == "true"


def cast_of(spark: SparkSession) -> str:
    """The name of a cast that gives what Spark's own in `=` gives, and NULL where that one would raise: a key may be
    asked for of a row that another condition keeps from the comparison."""
    return "try_cast" if is_ansi(spark) else "cast"
