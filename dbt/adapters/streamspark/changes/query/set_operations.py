"""UNION, INTERSECT and EXCEPT, with and without ALL.

UNION is DISTINCT of UNION ALL. The other two count, for each tuple, how often either side has it; with ALL the
tuple then comes as often as the counts say.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.algebra import (
    Aggregate,
    Filter,
    Generate,
    Operator,
    Project,
    Term,
    UnionAll,
)
from dbt.adapters.streamspark.changes.query.lowering import Ctes, Lowering, Relation
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered
from dbt.adapters.streamspark.changes.query.scope import Scope, bind
from dbt.adapters.streamspark.changes.query.select import check_ordered, distinct, top_k


def lower_set_operation(low: Lowering, query: exp.SetOperation, ctes: Ctes) -> Relation:
    """The operators of a set operation and of its ORDER BY with LIMIT."""
    if query.args.get("by_name"):
        raise NotCovered("UNION BY NAME", query)
    left, right = (low.lower(side, ctes) for side in (query.this, query.expression))
    if len(left.columns) != len(right.columns):
        raise NotCovered("a set operation of queries with other numbers of columns", query)
    node, names = _operator(low, query, left, right)
    shown = [name for name, _ in left.columns]
    if query.args.get("limit") or query.args.get("offset"):
        node, names = _first(low, query, node, list(zip(shown, names, strict=True)))
    return Relation(node, tuple(zip(shown, names, strict=True)))


def _operator(low: Lowering, query: exp.SetOperation, left: Relation, right: Relation) -> tuple[Operator, list[str]]:
    if isinstance(query, exp.Union):
        return _union(low, left, right, bool(query.args.get("distinct")))
    keep = "least({l}, {r})" if isinstance(query, exp.Intersect) else "greatest({l} - {r}, 0L)"
    if query.args.get("distinct"):
        keep = (
            "if({l} > 0 and {r} > 0, 1L, 0L)" if isinstance(query, exp.Intersect) else "if({l} > 0 and {r} = 0, 1L, 0L)"
        )
    return _counted(low, left, right, keep, bool(query.args.get("distinct")))


def _union(low: Lowering, left: Relation, right: Relation, once: bool) -> tuple[Operator, list[str]]:
    names = [low.names.new() for _ in left.columns]
    both = UnionAll([left.node, right.node], [_ours(left), _ours(right)], names)
    if not once:
        return both, names
    node, renamed = distinct(low, both, names)
    return node, list(renamed.values())


def _ours(relation: Relation) -> list[str]:
    return [ours for _, ours in relation.columns]


def _counted(low: Lowering, left: Relation, right: Relation, keep: str, once: bool) -> tuple[Operator, list[str]]:
    """Each tuple with the number of times that it is kept; with ALL, that often."""
    sides = [_with_side(low, relation, number) for number, relation in enumerate((left, right))]
    names = [low.names.new() for _ in left.columns]
    side = low.names.new()
    both = UnionAll([node for node, _ in sides], [columns for _, columns in sides], [*names, side])
    tuples = {name: low.names.new() for name in names}
    counts = [(low.names.new(), Term(f"count_if({side} = {number})", frozenset([side]))) for number in (0, 1)]
    keys = [(new, Term.column(name)) for name, new in tuples.items()]
    grouped = Aggregate(both, keys, counts)
    (left_count, _), (right_count, _) = counts
    kept = Term(keep.format(l=left_count, r=right_count), frozenset((left_count, right_count)))
    present = Filter(grouped, Term(f"{kept.sql} > 0", kept.columns))
    if once:
        return present, list(tuples.values())
    copies = Term(f"sequence(1L, {kept.sql})", kept.columns)
    return Generate(present, copies, False, low.names.new(), [low.names.new()]), list(tuples.values())


def _with_side(low: Lowering, relation: Relation, number: int) -> tuple[Operator, list[str]]:
    side = low.names.new()
    items = [(low.names.new(), Term.column(name)) for name in _ours(relation)]
    return Project(relation.node, [*items, (side, Term(str(number), frozenset()))]), [*(n for n, _ in items), side]


def _first(
    low: Lowering, query: Node, node: Operator, columns: Sequence[tuple[str, str]]
) -> tuple[Operator, list[str]]:
    check_ordered(query)
    scope = Scope(visible=list(columns))
    keys = []
    for ordered in query.args["order"].expressions:
        if isinstance(ordered.this, exp.Literal) and ordered.this.is_int:
            keys.append((columns[int(ordered.this.name) - 1][1], ordered))
        elif isinstance(ordered.this, exp.Column):
            keys.append((bind(ordered.this, scope).name, ordered))
        else:
            raise NotCovered("ORDER BY of an expression over a set operation", ordered)
    return top_k(low, query, node, [ours for _, ours in columns], keys)
