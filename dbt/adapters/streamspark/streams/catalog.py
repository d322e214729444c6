"""Streams in the catalog: views whose properties say that they are one."""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.catalog_table import catalog_table, is_view
from dbt.adapters.streamspark.errors import BrokenSource, InvalidStreamConfig
from dbt.adapters.streamspark.java_names import java_names
from dbt.adapters.streamspark.streams.definition import PREFIX, StreamDefinition, from_properties
from dbt.adapters.streamspark.streams.names import name_parts, table_sql

MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "REQUIRES_SINGLE_PART_NAMESPACE")


def properties(spark: SparkSession, name: str) -> dict[str, str] | None:
    """The TBLPROPERTIES of a table or view, None when there is none of that name. Of a view only those of a stream."""
    found = stream_properties(spark, name)
    if found is not None:
        return found
    try:
        rows = spark.sql(f"show tblproperties {table_sql(name)}").collect()
    except AnalysisException as error:
        if error.getCondition() in MISSING:
            return None
        raise
    return {row["key"]: row["value"] for row in rows}


def stream_properties(spark: SparkSession, name: str) -> dict[str, str] | None:
    """Those of a view that make it a stream; None when there is no view of that name. Not by a statement, which hides
    values that hold a word such as token, as a column may be called."""
    metadata = catalog_table(spark, name_parts(name))
    if metadata is None or not is_view(metadata):
        return None
    kept = java_names(spark).scala.jdk.javaapi.CollectionConverters.asJava(metadata.properties())
    return {str(key): str(kept[key]) for key in kept if str(key).startswith(PREFIX)}


def find_stream(spark: SparkSession, name: str) -> StreamDefinition:
    """The stream called `name`. Raises BrokenSource when there is none, InvalidStreamConfig when it is something
    else."""
    found = properties(spark, name)
    if found is None:
        raise BrokenSource(
            f"stream {name} does not exist. Build it first: dbt run --select {name.split('.')[-1].strip('`')} (or the "
            "name of its model, where the config alias gives it another one)"
        )
    stream = from_properties(found, name)
    if stream is None:
        raise InvalidStreamConfig(
            f"{name} is no stream: stream() reads a model with materialized='stream'. Read tables and views with ref()."
        )
    return stream


def find_other(spark: SparkSession, name: str, other: str) -> StreamDefinition:
    """A stream that the stream `name` mentions: by its full name, or in the same schema."""
    schema = name.rpartition(".")[0]
    return find_stream(spark, other if "." in other or not schema else f"{schema}.{other}")
