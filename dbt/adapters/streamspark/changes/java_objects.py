"""Values of Python as Java's objects, by one call for all of them: one by one a thousand would cost a second."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, reduce
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.java_names import java_names


def java_objects(spark: SparkSession, element: str, values: Sequence[Any]) -> Any:
    """A Scala sequence of what Delta's JSON reader makes of the values; `element` is the full name of their class, or
    of a primitive type."""
    mapper, arrays = _reader(spark.sparkContext, element)
    found = mapper.readValue(json.dumps(values), arrays)
    return java_names(spark).scala.collection.immutable.ArraySeq.unsafeWrapArray(found)


@cache
def _reader(context: SparkContext, element: str) -> tuple[Any, Any]:
    """Jackson's mapper, and the class of an array of these."""
    jvm, gateway = java_names(context), context._gateway
    array: Any = gateway.new_array(reduce(getattr, element.split("."), jvm), 0)  # type: ignore[union-attr]
    return jvm.org.apache.spark.sql.delta.util.JsonUtils.mapper(), array.getClass()
