"""What the rules of outer and semi joins have in common: a delta row by row, or under the keys of the equalities."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.streamspark.changes.differentiate.affected import affected
from dbt.adapters.streamspark.changes.differentiate.delta import SIGNED, Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, Differentiation
from dbt.adapters.streamspark.changes.differentiate.equalities import in_one_type
from dbt.adapters.streamspark.changes.differentiate.keys import Keys
from dbt.adapters.streamspark.changes.differentiate.rows import rows
from dbt.adapters.streamspark.changes.query.algebra import Term, TwoSided


def by_row(d: Differentiation, node: TwoSided, left: Delta, pairs: Sequence[tuple[Term, Term]]) -> Delta:
    """A change of the left side alone meets the right one, of which `pairs` tell the rows that it may meet."""
    own, others = in_one_type(d, node.left, node.right, pairs)
    met = d.met(d.at(node.right, END), others, left, own)
    return Delta(f"({rows(node, [left.sql, met], SIGNED)})", left.minus, left.plus)


def by_key(d: Differentiation, node: TwoSided, left: Delta | None, right: Delta | None) -> Delta | None:
    """Both sides under the keys that either change touches; all rows where no equality tells the keys."""
    own, others = in_one_type(d, node.left, node.right, node.pairs)
    return affected(d, node, touched_keys(d, (left, own), (right, others)), own, others) if own else d.whole(node)


def touched_keys(d: Differentiation, *sides: tuple[Delta | None, Sequence[Term]]) -> Keys:
    """The keys of the sides that have changed."""
    return d.keys([(delta, terms) for delta, terms in sides if delta is not None])
