"""Rows on their way from Arrow in this process to a Spark task."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

# Below this size Spark turns Arrow into rows on the driver, one by one, and ships them to the task as Java objects.
ROWS_ON_DRIVER = "spark.sql.execution.arrow.localRelationThreshold"
# A batch is a partition until they are put together again.
BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"


def rows_frame(spark: SparkSession, schema: StructType, batches: Sequence[pa.RecordBatch]) -> DataFrame:
    """The rows in their order, as a DataFrame of `schema`; `spark` is a `writing_session`."""
    return spark.createDataFrame(pa.Table.from_batches(batches).combine_chunks(), _nullable(schema))


def writing_session(spark: SparkSession) -> SparkSession:
    """A session of ingest's own with the settings of `spark`, in which Arrow stays Arrow until a task reads it."""
    made = SparkSession(spark._sc, spark._jsparkSession.cloneSession())
    made.conf.set(ROWS_ON_DRIVER, "0")
    made.conf.set(BATCH_ROWS, "100000")
    return made


def _nullable(schema: StructType) -> StructType:
    """What was checked already needs no check by Spark, which would refuse nullable Arrow columns."""
    return StructType([StructField(field.name, field.dataType) for field in schema.fields])
