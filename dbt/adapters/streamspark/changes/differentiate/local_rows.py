"""A small result kept on the driver, as rows that later queries read without a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.session_confs import session_confs
from dbt.adapters.streamspark.java_names import java_names

MOST_ROWS = 100_000
# LIMIT tries one partition first, and then more and more in a job each.
_ONE_JOB = {"spark.sql.limit.initialNumPartitions": "1000000"}
# Planning again after each stage takes longer than it spares where shuffles go to as many tasks as there are cores.
_PLANNED_ONCE = {"spark.sql.adaptive.enabled": "false"}


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
    is_local = str(spark.sparkContext.master).startswith("local")
    with session_confs(spark, {**_ONE_JOB, **(_PLANNED_ONCE if is_local else {})}):
        rows = frame.limit(MOST_ROWS + 1)._jdf.queryExecution().executedPlan().executeCollect()
    if len(rows) > MOST_ROWS:
        return Kept(frame.localCheckpoint(), None)
    return Kept(_local(spark, frame, rows), len(rows))


def _local(spark: SparkSession, frame: DataFrame, rows: Any) -> DataFrame:
    """Spark's own rows, not Python's: no type is lost on the way."""
    jvm = java_names(spark)
    output = frame._jdf.queryExecution().analyzed().output()
    sequence = jvm.scala.collection.immutable.ArraySeq.unsafeWrapArray(rows)
    relation = jvm.org.apache.spark.sql.catalyst.plans.logical.LocalRelation
    plan = relation(output, sequence, False, jvm.scala.Option.empty())
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan), spark)
