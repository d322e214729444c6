"""UNION ALL: the deltas of the branches, each in the types of the whole."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.delta import SIGNED, Delta, union
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, Differentiation
from dbt.adapters.streamspark.changes.differentiate.rows import branch
from dbt.adapters.streamspark.changes.projection import type_sql
from dbt.adapters.streamspark.changes.query.algebra import UnionAll


def union_all(d: Differentiation, node: UnionAll) -> Delta | None:
    """A branch's number is in its ids, so that a table may be united with itself."""
    types = [type_sql(data_type) for data_type in d.types(node, END)]
    deltas = []
    for number, child in enumerate(node.children):
        delta = d.delta(child)
        if delta is not None:
            deltas.append(Delta(f"({branch(node, number, delta.sql, SIGNED, types)})", delta.minus, delta.plus))
    return union(node.columns, deltas)
