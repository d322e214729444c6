"""Rows whose key is one of a set in memory, which each of them asks before anything else is done with it.

Delta makes a structure of ten values for each row of which a file, a place or an id is read, and a join by keys comes
after that. A set is no part of the code that Spark generates, which is the same from run to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ByteType, DataType, DateType, IntegerType, LongType, ShortType

from dbt.adapters.streamspark.changes.differentiate.keys import Column
from dbt.adapters.streamspark.changes.java_objects import java_objects
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.java_names import java_names

MADE_OF: Mapping[type[DataType], str] = {
    ByteType: "Byte",
    ShortType: "Short",
    IntegerType: "Integer",
    LongType: "Long",
    DateType: "Integer",
}
FIRST_DAY = date(1970, 1, 1).toordinal()


def members(rows: DataFrame, keys: Mapping[str, Column]) -> DataFrame:
    """The rows with one of the values of each key column of which all are known, if they are whole numbers or days of
    the type that it has in `rows`."""
    types = {field.name.lower(): field.dataType for field in rows.schema.fields}
    for name, column in keys.items():
        asked = column.values is not None and type(column.data_type) in MADE_OF
        if asked and types.get(name.lower()) == column.data_type:
            rows = _of_set(rows, name, column)
    return rows


def _of_set(rows: DataFrame, name: str, column: Column) -> DataFrame:
    spark, jvm = rows.sparkSession, java_names(rows.sparkSession)
    catalyst = jvm.org.apache.spark.sql.catalyst
    test = catalyst.expressions.InSet(rows._jdf.resolve(quoted(name)), _as_set(spark, column))
    plan = catalyst.plans.logical.Filter(test, rows._jdf.queryExecution().analyzed())
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan), spark)


def _as_set(spark: SparkSession, column: Column) -> Any:
    """In the types in which Spark holds them."""
    values = [_number(value) for value in column.values or ()]
    return java_objects(spark, f"java.lang.{MADE_OF[type(column.data_type)]}", values).toSet()


def _number(value: Any) -> int:
    return value.toordinal() - FIRST_DAY if isinstance(value, date) else int(value)
