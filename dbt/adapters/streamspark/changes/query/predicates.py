"""WHERE: plain conjuncts filter or join, EXISTS and IN become semi joins, the rest goes through subqueries.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.algebra import Condition, Operator, SemiJoin, Term
from dbt.adapters.streamspark.changes.query.joins import JoinTree, conjuncts
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered, Unresolved, place
from dbt.adapters.streamspark.changes.query.parentheses import out_of_parentheses
from dbt.adapters.streamspark.changes.query.scope import bound
from dbt.adapters.streamspark.changes.query.subqueries import Context, correlated_body, replace_subqueries


@dataclass(frozen=True)
class Inner:
    """The other side of a semi join: its operator, its output expressions, bound, and the conditions between it and
    the query around."""

    node: Operator
    outputs: list[Node]
    conditions: list[Condition]


def where(context: Context, tree: JoinTree, conditions: Sequence[Node]) -> None:
    """Put the conjuncts of `conditions` to work on `tree`, those without subqueries first."""
    parts = [part for condition in conditions for part in conjuncts(condition)]
    for part in parts:
        if not part.find(exp.Query):
            tree.require(context.bind(part))
    for part in parts:
        if part.find(exp.Query):
            _with_subquery(context, tree, part)


def _with_subquery(context: Context, tree: JoinTree, part: Node) -> None:
    negated = isinstance(part, exp.Not)
    test = part.this.unnest() if negated else part
    if isinstance(test, exp.Exists) and isinstance(test.this, exp.Query):
        _exists(context, tree, test.this, negated)
    elif isinstance(test, exp.In) and test.args.get("query") is not None:
        _in(context, tree, test, negated)
    else:
        replaced = replace_subqueries(context, tree, part)
        tree.require(context.bind(replaced))


def _exists(context: Context, tree: JoinTree, query: Node, negated: bool) -> None:
    inner = inner_side(context, _without_limit(query))
    _attach(
        tree, inner.conditions, lambda left: SemiJoin(left, inner.node, inner.conditions, negated, place=place(query))
    )


def _without_limit(query: Node) -> Node:
    """Whether there is a row does not depend on how many are asked for."""
    query = out_of_parentheses(query).copy()
    limit = query.args.get("limit")
    if (
        limit is not None
        and not query.args.get("offset")
        and limit.expression.is_int
        and int(limit.expression.name) > 0
    ):
        query.set("limit", None)
        query.set("order", None)
    return query


def _in(context: Context, tree: JoinTree, test: exp.In, negated: bool) -> None:
    inner = inner_side(context, test.args["query"])
    sides = test.this.expressions if isinstance(test.this, exp.Tuple) else [test.this]
    if len(sides) != len(inner.outputs):
        raise NotCovered("IN with another number of columns", test)
    if any(side.find(exp.Query) for side in sides):
        raise NotCovered("a subquery on the left of IN", test)
    left = [context.bind(side) for side in sides]
    if negated:
        members = [(Term.of(a), Term.of(b)) for a, b in zip(left, inner.outputs, strict=True)]
        tree.become(SemiJoin(tree.node, inner.node, inner.conditions, True, members, place=place(test)))
        return
    equal = [
        Condition.of(exp.EQ(this=_in_parentheses(a), expression=_in_parentheses(b)), of_in=True)
        for a, b in zip(left, inner.outputs, strict=True)
    ]
    conditions = [*inner.conditions, *equal]
    _attach(tree, conditions, lambda node: SemiJoin(node, inner.node, conditions, place=place(test)))


def _in_parentheses(node: Node) -> Node:
    return node if isinstance(node, exp.Column) else exp.Paren(this=node)


def _attach(tree: JoinTree, conditions: Sequence[Condition], make: Callable[[Operator], Operator]) -> None:
    """Only the part that the conditions are about becomes a semi join, so that the others still join in one go."""
    used = frozenset().union(*(condition.term.columns for condition in conditions))
    own = used & {name for part in tree.parts for name in part.columns}
    place = tree.place_of(Term("", own))
    if place is None:
        tree.become(make(tree.node))
    else:
        tree.parts[place] = make(tree.parts[place])


def inner_side(context: Context, query: Node) -> Inner:
    """A subquery as the other side of a join: on its own where it is, else with its correlated conjuncts outside."""
    try:
        relation = context.low.lower(query, context.ctes, inside=True)
        return Inner(relation.node, [bound(name) for _, name in relation.columns], [])
    except Unresolved:
        return _correlated(context, query)


def _correlated(context: Context, query: Node) -> Inner:
    """A subquery that names columns of the query around it in its WHERE, and nowhere else."""
    body = correlated_body(context, query)
    if any(context.low.functions.aggregates(item) for item in body.select.expressions):
        raise NotCovered("a correlated subquery with groups", query)
    return Inner(body.tree.node, body.items, [Condition.of(part) for part in body.between])
