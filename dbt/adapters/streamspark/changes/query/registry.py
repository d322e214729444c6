"""What Spark's registry says of a function: built-in ones, and those of the session."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.java_names import java_names

_NAMESPACES = ("builtin", "session")


def function_info(spark: SparkSession, name: str) -> Any | None:
    """Spark's ExpressionInfo of a function, None where the registry has none. It asks for names in three parts."""
    jvm = java_names(spark)
    registry = spark._jsparkSession.sessionState().functionRegistry()
    some = jvm.scala.Option.apply
    for namespace in _NAMESPACES:
        identifier = jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(name, some(namespace), some("system"))
        found = registry.lookupFunction(identifier)
        if found.isDefined():
            return found.get()
    return None
