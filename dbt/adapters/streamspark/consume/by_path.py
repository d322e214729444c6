"""A target under a name that no query calls it by (docs/decisions/0029)."""

from __future__ import annotations

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.projection import quoted


def by_path(spark: SparkSession, table: str) -> str:
    """A Delta table as SQL names it by its path. Raises MissingSource."""
    return f"delta.{quoted(TableLog(spark, table).path)}"
