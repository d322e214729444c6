"""SQL -> operators, from the pairs in lowering.sql: a sentence, a query, and the tree that it becomes. No Spark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.types import IntegerType, StructField, StructType

from dbt.adapters.streamspark.changes.query import algebra
from dbt.adapters.streamspark.changes.query.expanded import parse_query
from dbt.adapters.streamspark.changes.query.lower import lower
from dbt.adapters.streamspark.changes.query.lowering import Lowering
from dbt.adapters.streamspark.changes.query.prune import prune

TABLES = {"t": ("id", "k", "v", "arr"), "u": ("id", "k", "w"), "s": ("a", "c")}


def cases() -> Iterator[Any]:
    text = Path(__file__).with_name("lowering.sql").read_text() + "\n"
    for block in text.split("\n\n"):
        lines = [line for line in block.strip().splitlines() if line]
        if lines:
            sql = " ".join(line for line in lines[1:] if not line.startswith("--"))
            tree = "\n".join(line[3:] for line in lines[1:] if line.startswith("--"))
            yield pytest.param(sql.rstrip(";"), tree, id=lines[0][3:])


@pytest.mark.parametrize(("sql", "tree"), cases())
def test_a_query_becomes(sql: str, tree: str) -> None:
    assert lowered(sql) == tree


def lowered(sql: str) -> str:
    """The tree, a line an operator, its columns under the names that people give them."""
    low, relation = lowered_over(sql, TABLES)
    prune(relation.node, [ours for _, ours in relation.columns])
    names = {ours: f"{shown}{ours[1:]}" for ours, shown in low.names.shown.items()}
    text = "\n".join(lines(relation.node, 0))
    return re.sub(r"\bc\d+\b", lambda match: names.get(match.group(), match.group()), text)


def lowered_over(sql: str, tables: Mapping[str, Iterable[str]]) -> tuple[Lowering, Any]:
    """The query over tables with columns of these names, and what knows them."""
    stubs: Any = {name: SimpleNamespace(name=name, token=name) for name in tables}
    low = Lowering(None, stubs, {name: schema(*columns) for name, columns in tables.items()}, lower)  # type: ignore[arg-type]
    low.schema_of = lambda sql: schema("x")  # type: ignore[method-assign]
    return low, lower(low, parse_query(sql))


def schema(*columns: str) -> StructType:
    return StructType([StructField(column, IntegerType()) for column in columns])


def lines(node: algebra.Operator, depth: int) -> Iterator[str]:
    told = f" [{detail(node)}]" if detail(node) else ""
    yield f"{'  ' * depth}{name(node)}{told}"
    for child in node.inputs:
        yield from lines(child, depth + 1)


def name(node: algebra.Operator) -> str:
    if isinstance(node, algebra.Scan):
        return f"Scan {node.table.name}"
    if isinstance(node, algebra.OuterJoin):
        return "FullJoin" if node.full else "LeftJoin"
    if isinstance(node, algebra.SemiJoin):
        return "NotIn" if node.members else "AntiJoin" if node.anti else "SemiJoin"
    return type(node).__name__


def detail(node: algebra.Operator) -> str:
    if isinstance(node, algebra.Scan):
        return ", ".join(node.names.values())
    if isinstance(node, algebra.Opaque):
        return node.reason.what
    if isinstance(node, algebra.Aggregate):
        return "; ".join(", ".join(term.sql for _, term in items) for items in (node.keys, node.aggregates))
    return ", ".join(term.sql for term in node.terms)
