"""Long texts of Java's. A reply of py4j's of more than 8 KB waits 40 ms for the kernel, which holds a small packet back
until the one before is acknowledged; pieces that fit do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.java_names import java_names

PIECE = 4_000  # characters, most of them a byte
LAST_OF_ONE_UNIT = 0xFFFF


def java_text(spark: SparkSession, lines: Any) -> str:
    """A Scala sequence of strings as one text, a line each."""
    jvm = java_names(spark)
    joined = jvm.scala.collection.mutable.StringBuilder()
    lines.addString(joined, "\n")
    return "".join(_pieces(jvm.java.lang.StringBuilder(joined)))


def _pieces(text: Any) -> Iterator[str]:
    """None ends within a character of two UTF-16 units: neither half is one."""
    start, length = 0, int(text.length())
    while start < length:
        end = min(start + PIECE, length)
        end += int(text.codePointAt(end - 1) > LAST_OF_ONE_UNIT)
        yield text.substring(start, end)
        start = end
