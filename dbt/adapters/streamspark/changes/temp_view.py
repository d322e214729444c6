"""Temporary views without a query execution each, for which Spark writes the whole plan out as text: 4 ms and more."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.java_names import java_names


def temp_view(frame: DataFrame, name: str) -> None:
    """What `frame.createOrReplaceTempView` does; `name` is not quoted."""
    jvm = java_names(frame.sparkSession)
    none, nil = jvm.scala.Option.empty(), getattr(jvm.scala.collection.immutable, "Nil$")
    analysis = jvm.org.apache.spark.sql.catalyst.analysis
    command = jvm.org.apache.spark.sql.execution.command.CreateViewCommand(
        jvm.org.apache.spark.sql.catalyst.TableIdentifier(name, none),
        nil,  # columns
        none,  # comment
        none,  # collation
        getattr(jvm.scala.collection.immutable, "Map$").empty(),  # properties
        none,  # text
        frame._jdf.queryExecution().analyzed(),
        False,  # if not exists
        True,  # or replace
        getattr(analysis, "LocalTempView$"),
        getattr(analysis, "SchemaUnsupported$"),
        True,  # is analyzed
        nil,  # temporary functions
    )
    command.run(frame.sparkSession._jsparkSession)


def drop_temp_view(spark: SparkSession, name: str) -> None:
    """Nothing where there is none."""
    spark._jsparkSession.sessionState().catalog().dropTempView(name)
