"""Parts of a query that no rule covers: they are computed whole at both ends and compared."""

from __future__ import annotations

from collections.abc import Iterator

from dbt.adapters.streamspark.changes.query.algebra import Opaque, Operator, OuterJoin, SemiJoin, Window


def fallbacks(root: Operator) -> list[str]:
    """Why and where, one entry for each part; empty where every operator has a rule."""
    return list(dict.fromkeys(reason for node in root.walk() for reason in reasons(node)))


def reasons(node: Operator) -> Iterator[str]:
    """Why the operator itself, not one below it, has no rule."""
    if isinstance(node, Opaque):
        yield str(node.reason)
    elif isinstance(node, Window) and not node.partition:
        yield f"a window function without a PARTITION BY that all windows of its SELECT share, at {node.place}"
    elif isinstance(node, OuterJoin) and not node.pairs:
        yield f"an outer join without an equality between its sides, at {node.place}"
    elif isinstance(node, SemiJoin) and node.conditions and not node.pairs and not node.members:
        yield f"EXISTS or IN without an equality between its sides, at {node.place}"
