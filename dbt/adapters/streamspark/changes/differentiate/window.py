"""Window functions: the partitions that a change touches, at both ends."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.affected import affected
from dbt.adapters.streamspark.changes.differentiate.delta import Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.changes.query.algebra import Window


def window(d: Differentiation, node: Window) -> Delta | None:
    """By what all windows of the SELECT are partitioned by; where that is nothing, all rows."""
    delta = d.delta(node.child)
    if delta is None:
        return None
    if not node.partition:
        return d.whole(node)
    return affected(d, node, d.keys([(delta, node.partition)]), node.partition)
