"""GROUP BY: the groups that a change touches, at both ends (paper, section 3.2.1)."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.affected import affected
from dbt.adapters.streamspark.changes.differentiate.delta import Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.changes.query.algebra import Aggregate


def aggregate(d: Differentiation, node: Aggregate) -> Delta | None:
    """Without GROUP BY there is one row at each end, whatever changed."""
    delta = d.delta(node.child)
    if delta is None:
        return None
    terms = [term for _, term in node.keys]
    return affected(d, node, d.keys([(delta, terms)]), terms) if terms else d.whole(node)
