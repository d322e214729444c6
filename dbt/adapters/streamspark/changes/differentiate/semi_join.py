"""EXISTS, IN and their opposites: the left rows under the keys that a change of the right side touches, at both ends.

NOT IN is not NOT EXISTS: one NULL on the right makes it unknown for every row, and of a NULL on the left it asks
whether there is anything on the right. Correlated by an equality, it asks all of that only of the rows under one key.
Without, its own keys tell what is touched as long as there is no NULL on the right.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.streamspark.changes.differentiate.delta import Delta, difference
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, START, Differentiation
from dbt.adapters.streamspark.changes.differentiate.equalities import in_one_type
from dbt.adapters.streamspark.changes.differentiate.two_sided import by_key, by_row, touched_keys
from dbt.adapters.streamspark.changes.query.algebra import SemiJoin, Term


def semi_join(d: Differentiation, node: SemiJoin) -> Delta | None:
    """A change of the left side alone is looked at row by row."""
    left, right = d.kept(node.left), d.kept(node.right)
    if left is None and right is None:
        return None
    if left is not None and right is None:
        return by_row(d, node, left, node.pairs)
    if right is not None and node.members and not node.pairs:
        return _not_in(d, node, left, right)
    return by_key(d, node, left, right)


def _not_in(d: Differentiation, node: SemiJoin, left: Delta | None, right: Delta) -> Delta:
    """The rows of a touched key, and those without a key, whose answer any row of the right side may turn. With a NULL
    on the right, that is so of every row."""
    own, others = in_one_type(d, node.left, node.right, node.members)
    if not _has_no_null(d, node, others):
        return d.whole(node)
    keys, null = touched_keys(d, (left, own), (right, others)), _any_null(own)
    sides = []
    for end in (START, END):
        touched = f"select * from {d.restricted(node.left, end, keys, own)} q where not ({null})"
        unknown = f"select * from {d.at(node.left, end)} q where {null}"
        sides.append(d.rows(node, [f"({touched} union all {unknown})", d.at(node.right, end)], end))
    return difference(node.columns, *sides)


def _has_no_null(d: Differentiation, node: SemiJoin, terms: Sequence[Term]) -> bool:
    """Whether no row of the right side has a NULL among the `terms`, at either end; a plan that is not run takes it
    for so."""
    if d.dry:
        return True
    rows = " union all ".join(
        f"select {_any_null(terms)} as __null from {d.at(node.right, end)}" for end in (START, END)
    )
    row = d.keep(f"select count_if(__null) from ({rows})").frame.first()
    return row is not None and row[0] == 0


def _any_null(terms: Sequence[Term]) -> str:
    return " or ".join(f"({term.sql}) is null" for term in terms)
