"""Operators that look at one row at a time: the delta of the result is the operator over the delta.

| operator | paper, section 3.2.1 |
|---|---|
| Project, Filter | the derivative goes through them as they are |
| Generate | each row's elements come and go with it; those that stay cancel out, as their ids are equal |
"""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.delta import SIGNED, Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.changes.differentiate.rows import rows
from dbt.adapters.streamspark.changes.query.algebra import Filter, Unary


def linear(d: Differentiation, node: Unary) -> Delta | None:
    """The operator over its input's delta."""
    delta = d.delta(node.child)
    if delta is None:
        return None
    net = delta.net and isinstance(node, Filter)  # half of a pair that passes is a whole change
    return Delta(f"({rows(node, [delta.sql], SIGNED)})", delta.minus, delta.plus, net=net)
