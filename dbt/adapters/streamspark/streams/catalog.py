"""Streams in the catalog: views whose properties say that they are one."""

from __future__ import annotations

from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.errors import BrokenSource, InvalidStreamConfig
from dbt.adapters.streamspark.streams.definition import PREFIX, StreamDefinition, from_properties
from dbt.adapters.streamspark.streams.names import PART, table_sql

MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "REQUIRES_SINGLE_PART_NAMESPACE")
REDACTED = "*********(redacted)"


def properties(spark: SparkSession, name: str) -> dict[str, str] | None:
    """The TBLPROPERTIES of a table or view, None when there is none of that name."""
    try:
        rows = spark.sql(f"show tblproperties {table_sql(name)}").collect()
    except AnalysisException as error:
        if error.getCondition() in MISSING:
            return None
        raise
    found = {row["key"]: row["value"] for row in rows}
    return {**found, **_unredacted(spark, name)} if REDACTED in found.values() else found


def _unredacted(spark: SparkSession, name: str) -> dict[str, str]:
    """Spark hides a value in which it finds a word such as token or url, which a column of a query may be called."""
    state: Any = spark._jsparkSession.sessionState()
    jvm: Any = spark._jvm
    parts = PART.findall(name)[-2:]
    identifier = state.sqlParser().parseTableIdentifier(table_sql(".".join(parts)))
    kept = jvm.scala.jdk.javaapi.CollectionConverters.asJava(state.catalog().getTableMetadata(identifier).properties())
    return {str(key): str(kept[key]) for key in kept if str(key).startswith(PREFIX)}


def find_stream(spark: SparkSession, name: str) -> StreamDefinition:
    """The stream called `name`. Raises BrokenSource when there is none, InvalidStreamConfig when it is something
    else."""
    found = properties(spark, name)
    if found is None:
        raise BrokenSource(
            f"stream {name} does not exist. Build it first: dbt run --select {name.split('.')[-1].strip('`')}"
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
