"""A small result kept on the driver, as rows that later queries read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.session_confs import session_confs
from dbt.adapters.streamspark.java_names import java_names

MOST_ROWS = 100_000
# With a relation of up to so many rows the optimizer may compute by itself: a query of them needs no job. It does so in
# one thread, by no generated code, and compares all rows where it compares plans: a second for 60,000 (decision 0012).
FEW = 5_000
ROWS_OF_A_TASK = 10_000  # a task that takes 128 MB with its rows is sent to no executor
# LIMIT tries one partition first, and then more and more in a job each.
_ONE_JOB = {"spark.sql.limit.initialNumPartitions": "1000000"}
# Planning again after each stage takes longer than it spares where shuffles go to as many tasks as there are cores.
_PLANNED_ONCE = {"spark.sql.adaptive.enabled": "false"}


@dataclass(frozen=True)
class Kept:
    """`frame` reads what was computed, `count` is its number of rows (None: nothing was). `is_small`: the driver holds
    them."""

    frame: DataFrame
    count: int | None
    is_small: bool = False


def too_many(rows: int | None) -> bool:
    """Whether so many rows, None being unknown, are more than the driver holds."""
    return rows is None or rows > MOST_ROWS


def keep(frame: DataFrame, many: bool = False) -> Kept:
    """Run `frame` once. Up to MOST_ROWS rows are held by the driver, where Spark's optimizer sees up to FEW; more are
    kept by the executors, until the DataFrame is not used any more. They are computed twice, unless `many` says that
    there may be so many."""
    if not many:
        rows = _first_rows(frame)
        if not too_many(len(rows)):
            return Kept(_local(frame, rows), len(rows), is_small=True)
    kept = frame.localCheckpoint(eager=False)  # by the job that counts
    count = kept.count()
    if not too_many(count):
        return Kept(_local(kept, _first_rows(kept)), count, is_small=True)
    return Kept(kept, count)


def _first_rows(frame: DataFrame) -> Any:
    """Up to one more than MOST_ROWS."""
    is_local = str(frame.sparkSession.sparkContext.master).startswith("local")
    with session_confs(frame.sparkSession, {**_ONE_JOB, **(_PLANNED_ONCE if is_local else {})}):
        return frame.limit(MOST_ROWS + 1)._jdf.queryExecution().executedPlan().executeCollect()


def _local(frame: DataFrame, rows: Any) -> DataFrame:
    """Spark's own rows, not Python's: no type is lost on the way."""
    spark = frame.sparkSession
    jvm = java_names(spark)
    output = frame._jdf.queryExecution().analyzed().output()
    sequence = jvm.scala.collection.immutable.ArraySeq.unsafeWrapArray(rows)
    relation = jvm.org.apache.spark.sql.catalyst.plans.logical.LocalRelation
    plan = relation(output, sequence, False, jvm.scala.Option.empty())
    if len(rows) > FEW:
        plan = _for_tasks(spark, plan)
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan), spark)


def _for_tasks(spark: SparkSession, relation: Any) -> Any:
    """The rows of a LocalRelation, which the optimizer counts but does not look into."""
    jvm, context = java_names(spark), spark._jsparkSession.sparkContext()
    tag = getattr(jvm.scala.reflect, "ClassTag$").Any()
    tasks = max(context.defaultParallelism(), relation.data().size() // ROWS_OF_A_TASK)
    rows = context.parallelize(relation.data(), tasks, tag)
    partitioning = jvm.org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning(0)
    ordering, none = getattr(jvm.scala.collection.immutable, "Nil$"), jvm.scala.Option.empty()
    told = jvm.scala.Option.apply(relation.computeStats())
    given = (relation.output(), rows, partitioning, ordering, False, none, spark._jsparkSession, told, none)
    return jvm.org.apache.spark.sql.execution.LogicalRDD(*given)
