"""The keys of rows, counted by the job that writes the rows: no shuffle, no second look at them."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.classic.column import Column
from pyspark.sql.functions import expr

from dbt.adapters.streamspark.java_names import java_names


class CountedKeys:
    """`rows` (a DataFrame of Java) are those of `frame`; when they have been written, `count` tells in how many numbers
    `bits` (SQL, see key_bits.py) their keys are."""

    def __init__(self, frame: DataFrame, bits: str):
        self._jvm = java_names(frame.sparkSession)
        self._observation = self._jvm.org.apache.spark.sql.Observation()
        count = self._bitmap(bits).getField("cardinality")
        no_more = getattr(self._jvm.scala.collection.immutable, "Nil$")
        self.rows = frame._jdf.observe(self._observation, count._jc, no_more)

    def _bitmap(self, bits: str) -> Column:
        """Delta's own aggregate, by which its deletion vectors are put together."""
        jvm = self._jvm.org.apache.spark.sql
        columns, formats = jvm.classic.ExpressionUtils, jvm.delta.deletionvectors
        portable = getattr(formats, "RoaringBitmapArrayFormat$").Portable()
        number = columns.expression(expr(bits)._jc)
        bitmap = jvm.catalyst.expressions.aggregation.BitmapAggregator(number, portable)
        return Column(columns.column(bitmap.toAggregateExpression()))

    @property
    def count(self) -> int | None:
        """None where Spark did not tell."""
        told: Any = self._observation.future()
        return int(self._observation.getRow().getLong(0)) if told.isCompleted() else None
