"""A small result kept on the driver, as rows that later queries read without a job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.java_names import java_names

MOST_ROWS = 100_000
_FIRST_TRY = "spark.sql.limit.initialNumPartitions"
_ALL_PARTITIONS = "1000000"


@dataclass(frozen=True)
class Kept:
    """`frame` reads what was computed, `count` is its number of rows (None: more than MOST_ROWS)."""

    frame: DataFrame
    count: int | None

    @property
    def is_small(self) -> bool:
        return self.count is not None


def keep(frame: DataFrame) -> Kept:
    """Run `frame` once. Up to MOST_ROWS rows are held by the driver, where Spark's optimizer sees them; more are
    kept by the executors, until the DataFrame is not used any more."""
    spark = frame.sparkSession
    with _in_one_job(spark):
        rows = frame.limit(MOST_ROWS + 1)._jdf.queryExecution().executedPlan().executeCollect()
    if len(rows) > MOST_ROWS:
        return Kept(frame.localCheckpoint(), None)
    return Kept(_local(spark, frame, rows), len(rows))


@contextmanager
def _in_one_job(spark: SparkSession) -> Iterator[None]:
    """LIMIT tries one partition first, and then more and more in a job each."""
    before = spark.conf.get(_FIRST_TRY, None)
    spark.conf.set(_FIRST_TRY, _ALL_PARTITIONS)
    try:
        yield
    finally:
        spark.conf.unset(_FIRST_TRY) if before is None else spark.conf.set(_FIRST_TRY, before)


def _local(spark: SparkSession, frame: DataFrame, rows: Any) -> DataFrame:
    """Spark's own rows, not Python's: no type is lost on the way."""
    jvm = java_names(spark)
    output = frame._jdf.queryExecution().analyzed().output()
    sequence = jvm.scala.collection.immutable.ArraySeq.unsafeWrapArray(rows)
    relation = jvm.org.apache.spark.sql.catalyst.plans.logical.LocalRelation
    plan = relation(output, sequence, False, jvm.scala.Option.empty())
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan), spark)
