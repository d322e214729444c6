"""`DataFrame.selectExpr` in two calls to the JVM, however many expressions: PySpark makes one for each."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.java_names import java_names

BETWEEN = "\0"


def selected(frame: DataFrame, expressions: Sequence[str]) -> DataFrame:
    """The SQL expressions as columns."""
    split = java_names(frame.sparkSession).org.apache.commons.lang3.StringUtils.splitByWholeSeparator
    return DataFrame(frame._jdf.selectExpr(split(BETWEEN.join(expressions), BETWEEN)), frame.sparkSession)
