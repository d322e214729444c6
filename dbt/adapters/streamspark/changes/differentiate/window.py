"""Window functions: the partitions that a change touches, at both ends."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.affected import affected
from dbt.adapters.streamspark.changes.differentiate.delta import Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.changes.differentiate.from_end import from_end
from dbt.adapters.streamspark.changes.query.algebra import Window


def window(d: Differentiation, node: Window) -> Delta | None:
    """By what all windows of the SELECT are partitioned by; where that is nothing, all rows. Where few rows have
    changed, those that the partitions had are told from those that they have (docs/decisions/0040)."""
    delta = d.delta(node.child)
    if delta is None:
        return None
    if not node.partition:
        return d.whole(node)
    few = None if d.appended or d.many else d.kept(node.child)
    if few is not None and (d.dry or few.rows_held is not None):
        return from_end(d, node, few)
    return affected(d, node, d.keys([(few or delta, node.partition)]), node.partition)
