"""Access that the storage refuses: what is denied is still there, and must never be taken for gone."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.errors import BrokenSource
from dbt.adapters.streamspark.spark_errors import denial


def denied(table: str, what: str, said: str) -> BrokenSource:
    """The error for `what` of a table when the storage refuses to give it, in its own words `said`."""
    return BrokenSource(
        f"table {table}: {what} may not be read ({said}). Give the user that Spark runs as read access to the table's "
        "directory and log, and run again: no change is lost."
    )


def check_listable(spark: SparkSession, directory: str) -> None:
    """Raises what the storage says of a directory that is there but may not be looked into: what is in such a one
    looks as if it were not there."""
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(directory)
    try:
        path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).listStatus(path)
    except Py4JJavaError as error:
        if denial(error) is not None:
            raise


def unlistable(spark: SparkSession, directory: str) -> str | None:
    """Why a directory may not be looked into; None where it may: what is missing in it is gone indeed."""
    try:
        check_listable(spark, directory)
    except Py4JJavaError as error:
        return denial(error)
    return None
