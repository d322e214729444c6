"""LEFT, RIGHT and FULL joins: the rows of both sides under the keys that a change touches, joined at both ends.

The keys are those of the equalities in ON; what else ON says is part of the join (Larson and Zhou, Efficient
Maintenance of Materialized Outer-Join Views). A change of the preserved side alone is looked at row by row.
"""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.delta import Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.changes.differentiate.two_sided import by_key, by_row
from dbt.adapters.streamspark.changes.query.algebra import OuterJoin


def outer_join(d: Differentiation, node: OuterJoin) -> Delta | None:
    """Without an equality to tell the keys by, all rows at both ends."""
    left, right = d.kept(node.left), d.kept(node.right)
    if left is None and right is None:
        return None
    if left is not None and right is None and not node.full:
        return by_row(d, node, left, node.pairs)
    return by_key(d, node, left, right)
