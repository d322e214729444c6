"""Texts come from Java as they are, whatever their length and wherever they are cut."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.java_text import PIECE, java_text
from dbt.adapters.streamspark.java_names import java_names


@pytest.mark.parametrize("before", range(-2, 3))
def test_a_character_of_two_units_is_not_cut(spark: SparkSession, before: int) -> None:
    lines = ["x" * (PIECE + before) + "\N{GRINNING FACE}" + "y" * PIECE, "", "\N{GRINNING FACE}"]
    found = java_names(spark).java.util.ArrayList()
    for line in lines:
        found.add(line)
    sequence = java_names(spark).scala.jdk.javaapi.CollectionConverters.asScala(found).toSeq()
    assert java_text(spark, sequence) == "\n".join(lines)


def test_no_lines_are_no_text(spark: SparkSession) -> None:
    none = java_names(spark).scala.jdk.javaapi.CollectionConverters.asScala(java_names(spark).java.util.ArrayList())
    assert java_text(spark, none.toSeq()) == ""
