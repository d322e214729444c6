"""What Spark makes of a query before it optimizes it."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.sequences import items


def plans(frame: DataFrame) -> list[Any]:
    """The analysed plan of a query, and those of the subqueries in it, at any depth."""
    plan = frame._jdf.queryExecution().analyzed()
    return [plan, *items(plan.subqueriesAll())]
