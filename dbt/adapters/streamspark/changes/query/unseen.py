"""Tables that Spark reads for a query and that its text does not name: they have no ends, only the newest rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from py4j.java_gateway import is_instance_of
from pyspark import SparkContext
from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.query.plans import plans
from dbt.adapters.streamspark.changes.sequences import items
from dbt.adapters.streamspark.errors import UnsupportedQuery

FILES = "org.apache.spark.sql.execution.datasources.HadoopFsRelation"
STAND_IN = "TahoeBatchFileIndex"  # of chosen files: nothing that a name stands for has such a one
# what holds its own rows, and what names rows that another part of the plan makes
ROWLESS = frozenset(("LocalRelation", "OneRowRelation", "Range", "CTERelationRef", "UnionLoopRef"))


def refuse_unseen(frame: DataFrame) -> None:
    """Raises UnsupportedQuery where a query over stand-ins reads anything else: what `identifier()` names, and what the
    SQL of a function does."""
    for leaf in _leaves(frame):
        kind = str(leaf.getClass().getSimpleName()).rstrip("$")
        if kind in ROWLESS or (kind == "LogicalRelation" and _is_stand_in(leaf)):
            continue
        raise UnsupportedQuery(
            f"the query reads {_name(leaf, kind)} without naming it in FROM, by identifier() or in a function made "
            "with CREATE FUNCTION, so that its changes would not be seen. Write the table's name, or what the function "
            "does, in the query itself."
        )


def _leaves(frame: DataFrame) -> Iterator[Any]:
    """Of the plan and of the subqueries in it, at any depth."""
    for plan in plans(frame):
        yield from items(plan.collectLeaves())


def _is_stand_in(relation: Any) -> bool:
    location = _location(relation)
    return location is not None and location.getClass().getSimpleName() == STAND_IN


def _location(relation: Any) -> Any | None:
    """Spark's index of the files that a relation reads; None where it reads no files."""
    source = relation.relation()
    return source.location() if is_instance_of(SparkContext._gateway, source, FILES) else None


def _name(leaf: Any, kind: str) -> str:
    if kind != "LogicalRelation":
        return f"what is no table ({kind})"
    table, location = leaf.catalogTable(), _location(leaf)
    if table.isDefined():
        return f"table {table.get().identifier().unquotedString()}"
    return "what is no table" if location is None else f"table {location.rootPaths().mkString(', ')}"
