"""ORDER BY with LIMIT: the first rows at both ends, which are few."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.delta import Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.changes.query.algebra import TopK


def top_k(d: Differentiation, node: TopK) -> Delta | None:
    return None if d.delta(node.child) is None else d.whole(node)
