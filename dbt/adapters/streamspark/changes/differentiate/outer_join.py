"""LEFT, RIGHT and FULL joins: the rows of both sides under the keys that a change touches, joined at both ends.

The keys are those of the equalities in ON; what else ON says is part of the join (Larson and Zhou, in the notes on
differentiation). A change of the preserved side alone is looked at row by row.
"""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.delta import SIGNED, Delta, difference
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, START, Differentiation
from dbt.adapters.streamspark.changes.differentiate.equalities import of_one_type
from dbt.adapters.streamspark.changes.differentiate.rows import rows
from dbt.adapters.streamspark.changes.query.algebra import OuterJoin


def outer_join(d: Differentiation, node: OuterJoin) -> Delta | None:
    """Without an equality to tell the keys by, all rows at both ends."""
    left, right = d.kept(node.left), d.kept(node.right)
    if left is None and right is None:
        return None
    own, others = of_one_type(d, node.left, node.right, node.pairs)
    if left is not None and right is None and not node.full:
        met = d.met(d.at(node.right, END), others, left, own)
        return Delta(f"({rows(node, [left.sql, met], SIGNED)})", left.minus, left.plus)
    if not own:
        return d.whole(node)
    keys = d.keys([(delta, terms) for delta, terms in ((left, own), (right, others)) if delta is not None])
    inputs = [
        [d.restricted(node.left, end, keys, own), d.restricted(node.right, end, keys, others)] for end in (START, END)
    ]
    return difference(node.columns, d.rows(node, inputs[START], START), d.rows(node, inputs[END], END))
