"""What Spark makes of a query before it optimizes it, and what single rules of its optimizer make of that."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.query.algebra import CLOCK
from dbt.adapters.streamspark.changes.sequences import items
from dbt.adapters.streamspark.java_names import java_names


def plans(frame: DataFrame) -> list[Any]:
    """The analysed plan of a query, and those of the subqueries in it, at any depth."""
    plan = frame._jdf.queryExecution().analyzed()
    return [plan, *items(plan.subqueriesAll())]


def rewritten(spark: SparkSession, rule: str, plan: Any) -> Any:
    """The plan after one rule of the optimizer, by the rule's name."""
    return getattr(java_names(spark).org.apache.spark.sql.catalyst.optimizer, f"{rule}$").apply(plan)


def asks_time(spark: SparkSession, sql: str) -> bool:
    """Whether Spark finds a clock in a query, apart from those that are bound. Raises Spark's errors for the text."""
    plan = spark.sql(sql.replace(CLOCK, "timestamp'2000-01-01 00:00:00'"))._jdf.queryExecution().analyzed()
    return not rewritten(spark, "ComputeCurrentTime", plan).fastEquals(plan)
