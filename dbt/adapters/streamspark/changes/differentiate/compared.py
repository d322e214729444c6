"""The type in which Spark compares values of two types: `=` casts one side or both, by rules of the session."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession


def compared_as(frame: DataFrame) -> str:
    """The type as SQL, of a frame whose one column is `a = b`. Spark is asked, since its rules depend on the session:
    in ANSI mode an int and a text are compared as bigint, otherwise as int. Nor are types all: of two collations that
    counts which is said in the query."""
    plan = frame._jdf.queryExecution().analyzed()
    return str(plan.expressions().head().child().left().dataType().sql())


def is_ansi(spark: SparkSession) -> bool:
    return spark.conf.get("spark.sql.ansi.enabled") == "true"


def cast_of(spark: SparkSession) -> str:
    """The name of a cast that gives what Spark's own in `=` gives, and NULL where that one would raise: a key may be
    asked for of a row that another condition keeps from the comparison."""
    return "try_cast" if is_ansi(spark) else "cast"
