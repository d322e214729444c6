"""EXISTS, IN and their opposites: the left rows under the keys that a change of the right side touches, at both ends.

NOT IN is not NOT EXISTS: one NULL on the right makes it unknown for every row, and an empty right side makes it true
even of NULL. So its keys tell all that is touched only while the right side keeps having NULLs, or none, and keeps
being empty, or not (notes on differentiation).
"""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.delta import Delta, difference
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, START, Differentiation
from dbt.adapters.streamspark.changes.differentiate.equalities import of_one_type
from dbt.adapters.streamspark.changes.differentiate.two_sided import by_key, by_row, touched_keys
from dbt.adapters.streamspark.changes.query.algebra import SemiJoin


def semi_join(d: Differentiation, node: SemiJoin) -> Delta | None:
    """A change of the left side alone is looked at row by row."""
    left, right = d.kept(node.left), d.kept(node.right)
    if left is None and right is None:
        return None
    if right is None:
        assert left is not None
        return _by_row(d, node, left)
    return _not_in(d, node, left, right) if node.members else by_key(d, node, left, right)


def _by_row(d: Differentiation, node: SemiJoin, left: Delta) -> Delta:
    """NOT IN has to see all of the right side: a NULL there counts for every row."""
    return by_row(d, node, left, [] if node.members else node.pairs)


def _not_in(d: Differentiation, node: SemiJoin, left: Delta | None, right: Delta) -> Delta:
    own, others = of_one_type(d, node.left, node.right, node.members)
    if node.conditions or len(own) < len(node.members) or not _is_steady(d, node):
        return d.whole(node)
    keys = touched_keys(d, (left, own), (right, others))
    null = " or ".join(f"({term.sql}) is null" for term in own)
    sides = []
    for end in (START, END):
        touched = f"select * from {d.restricted(node.left, end, keys, own)} q where not ({null})"
        unknown = f"select * from {d.at(node.left, end)} q where {null}"
        sides.append(d.rows(node, [f"({touched} union all {unknown})", d.at(node.right, end)], end))
    return difference(node.columns, *sides)


def _is_steady(d: Differentiation, node: SemiJoin) -> bool:
    """Whether the right side is empty at both ends or neither, and has no NULL at either: a NULL beside other values,
    in NOT IN of several columns, touches rows of other keys."""
    if d.dry:
        return False
    null = " or ".join(f"({term.sql}) is null" for _, term in node.members)
    counts = [f"(select count(*) from {d.at(node.right, end)})" for end in (START, END)]
    nulls = [f"(select count_if({null}) from {d.at(node.right, end)})" for end in (START, END)]
    row = d.keep(f"select ({counts[0]} = 0) <=> ({counts[1]} = 0) and {nulls[0]} = 0 and {nulls[1]} = 0").frame.first()
    return bool(row is not None and row[0])
