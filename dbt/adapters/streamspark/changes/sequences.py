"""Sequences on the way between Java and Scala."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt.adapters.streamspark.changes.log import TableLog


def as_java(log: TableLog, sequence: Any) -> Any:
    """A Scala sequence as a java.util.List, which Python can iterate over."""
    return log._jvm.scala.jdk.javaapi.CollectionConverters.asJava(sequence)


def as_scala(log: TableLog, items: Any) -> Any:
    """A java.util.List as a Scala sequence."""
    return log._jvm.scala.jdk.javaapi.CollectionConverters.asScala(items).toSeq()


def scala_seq(log: TableLog, items: Sequence[Any]) -> Any:
    """The same of a Python sequence of Java objects."""
    found = log._jvm.java.util.ArrayList()
    for item in items:
        found.add(item)
    return as_scala(log, found)


def items(sequence: Any) -> list[Any]:
    """The elements of a short sequence of Scala's, each of which is asked for."""
    return [sequence.apply(index) for index in range(sequence.size())]
