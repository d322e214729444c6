"""Scalar subqueries, and EXISTS inside expressions, as columns of a join.

| subquery | becomes |
|---|---|
| scalar | a cross join with its one row; more than one row is an error, as in Spark |
| scalar, correlated by equalities | a left join with its values by key; counts of nothing are 0 |
| EXISTS, correlated by equalities or not at all | a left join with the keys that it finds |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.algebra import Aggregate, Condition, Item, OuterJoin, Project, Term
from dbt.adapters.streamspark.changes.query.joins import JoinTree, conjuncts
from dbt.adapters.streamspark.changes.query.lowering import Ctes, Lowering
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered, Unresolved
from dbt.adapters.streamspark.changes.query.of_nothing import of_nothing
from dbt.adapters.streamspark.changes.query.parentheses import out_of_parentheses
from dbt.adapters.streamspark.changes.query.scope import Scope, bind, bound
from dbt.adapters.streamspark.changes.query.sources import lower_from

ONE_ROW = "if(count(*) > 1, raise_error('a scalar subquery gave more than one row'), any_value({}))"
OTHER_PLACES = (exp.In, exp.Any, exp.All, exp.Order, exp.Limit, exp.Offset)  # the last three: EXISTS ((…) LIMIT 1)
REFUSED = ("group", "having", "qualify", "distinct", "limit", "offset", "with_", "laterals", "windows")


def _unchanged(node: Node) -> Node:
    return node


@dataclass(frozen=True)
class Context:
    """Where an expression stands: the names that it sees, and `finish`, what is done to it when they are bound (in a
    grouped query: groups and aggregates become columns)."""

    low: Lowering
    ctes: Ctes
    scope: Scope
    finish: Callable[[Node], Node] = _unchanged

    def bind(self, node: Node) -> Node:
        return self.finish(bind(node, self.scope))


@dataclass
class Body:
    """A correlated subquery's FROM, its names, and the conjuncts of its WHERE that name the query around."""

    select: exp.Select
    tree: JoinTree
    scope: Scope
    between: list[Node]

    @property
    def items(self) -> list[Node]:
        """The select list, bound to the subquery's own names."""
        own = Scope(self.scope.sources, self.scope.visible)
        plain = [item.unalias() for item in self.select.expressions]
        if any(isinstance(item, exp.Star) for item in plain):
            return [bound(name) for _, name in own.star()]
        return [bind(item, own) for item in plain]

    def pairs(self) -> list[tuple[Node, Node, Node]]:
        """(own, outer) sides of the equalities with the query around, and which of the two equalities it is. Raises
        NotCovered for any other conjunct."""
        return [self._pair(part) for part in self.between]

    def _pair(self, part: Node) -> tuple[Node, Node, Node]:
        own = set(self.tree.node.columns)
        for one, other in ((part.this, part.expression), (part.expression, part.this)) if _is_equality(part) else ():
            if Term.of(one).columns <= own and not Term.of(other).columns & own:
                return one, other, type(part)
        raise NotCovered("a subquery correlated by something else than an equality", part)


def correlated_body(context: Context, query: Node) -> Body:
    """FROM and WHERE of a subquery that names columns of the query around. Raises NotCovered for what is no plain
    SELECT."""
    select = out_of_parentheses(query)
    refused = [clause for clause in REFUSED if select.args.get(clause)]
    if not isinstance(select, exp.Select) or refused:
        raise NotCovered(
            f"a correlated subquery with {' '.join(refused).upper().strip('_') or 'a set operation'}", query
        )
    scope = Scope()
    tree, conditions = lower_from(context.low, select, context.ctes, scope)
    scope.outer = context.scope
    where = [select.args["where"].this] if select.args.get("where") else []
    between = [part for condition in (*conditions, *where) for part in _conjuncts(context, tree, scope, condition)]
    return Body(select, tree, scope, between)


def _conjuncts(context: Context, tree: JoinTree, scope: Scope, condition: Node) -> list[Node]:
    """Puts the conjuncts over own columns to work on `tree`; returns the others."""
    others = []
    for part in conjuncts(condition):
        inner = Context(context.low, context.ctes, scope)
        node = bind(replace_subqueries(inner, tree, part), scope)
        own = set(tree.node.columns)
        if Term.of(node).columns <= own:
            tree.require(node)
        else:
            others.append(_finish_outer(node, own, context))
    return others


def _finish_outer(node: Node, own: set[str], context: Context) -> Node:
    def finished(part: Node) -> Node:
        return context.finish(part) if isinstance(part, exp.Column) and part.name not in own else part

    return node.transform(finished)


def _is_equality(node: Node) -> bool:
    return isinstance(node, exp.EQ | exp.NullSafeEQ)


def replace_subqueries(context: Context, tree: JoinTree, expression: Node) -> Node:
    """`expression` with each of its subqueries made a column that is joined to `tree`."""
    root = exp.Paren(this=expression.copy())
    while (found := _next_subquery(root)) is not None:
        found.replace(_column_of(context, tree, found))
    return root.this


def _next_subquery(root: Node) -> Node | None:
    for node in root.walk(prune=lambda n: isinstance(n, exp.Query)):
        if isinstance(node, exp.Query) or (isinstance(node, exp.Exists) and isinstance(node.this, exp.Query)):
            return node
    return None


def _column_of(context: Context, tree: JoinTree, found: Node) -> Node:
    if isinstance(found, exp.Exists):
        return _mark(context, tree, found.this)
    if isinstance(found.parent, OTHER_PLACES) or not isinstance(found, exp.Subquery):
        raise NotCovered("a subquery in this place", found.parent or found)
    return _scalar(context, tree, found)


def _scalar(context: Context, tree: JoinTree, query: Node) -> Node:
    try:
        relation = context.low.lower(query, context.ctes, inside=True)
    except Unresolved:
        return _correlated_scalar(context, tree, query)
    if len(relation.columns) != 1:
        raise NotCovered("a scalar subquery of several columns", query)
    name = relation.columns[0][1]
    if isinstance(relation.node, Project) and _gives_one_row(relation.node.child):
        tree.add(relation.node)
        return bound(name)
    value = context.low.names.new()
    tree.add(Aggregate(relation.node, [], [(value, Term(ONE_ROW.format(name), frozenset([name])))]))
    return bound(value)


def _gives_one_row(node: object) -> bool:
    return isinstance(node, Aggregate) and not node.keys


def _correlated_scalar(context: Context, tree: JoinTree, query: Node) -> Node:
    body = correlated_body(context, query)
    if len(body.items) != 1:
        raise NotCovered("a scalar subquery of several columns", query)
    item = exp.Paren(this=body.items[0])
    calls = context.low.functions.aggregates(item)
    if not calls:
        value = context.low.names.new()
        term = Term.of(item)
        _join_by_key(context, tree, body, [(value, Term(ONE_ROW.format(term.sql), term.columns))])
        return bound(value)
    aggregates = []
    for call in calls:
        name = context.low.names.new()
        aggregates.append((name, Term.of(call)))
        call.replace(of_nothing(call, bound(name)))
    _refuse_others(item, {name for name, _ in aggregates})
    _join_by_key(context, tree, body, aggregates)
    return item


def _refuse_others(item: Node, known: set[str]) -> None:
    for column in item.find_all(exp.Column):
        if column.name not in known:
            raise NotCovered("a column beside an aggregate in a scalar subquery", column)


def _join_by_key(context: Context, tree: JoinTree, body: Body, aggregates: Sequence[Item]) -> None:
    """Left join `tree` with the subquery's groups, a group for each value that it is correlated by."""
    keys, conditions = [], []
    for own, outer, equality in body.pairs():
        name = context.low.names.new()
        keys.append((name, Term.of(own)))
        conditions.append(Condition.of(equality(this=exp.Paren(this=outer), expression=bound(name))))
    grouped = Aggregate(body.tree.node, keys, list(aggregates))
    tree.become(OuterJoin(tree.node, grouped, conditions, lookup=True))


def _mark(context: Context, tree: JoinTree, query: Node) -> Node:
    """EXISTS as a boolean: whether the subquery has a row for this one."""
    count = context.low.names.new()
    counted = [(count, Term("count(*)", frozenset()))]
    try:
        relation = context.low.lower(query, context.ctes, inside=True)
        tree.add(Aggregate(relation.node, [], counted))
    except Unresolved:
        body = correlated_body(context, query)
        if any(context.low.functions.aggregates(item) for item in body.select.expressions):
            raise NotCovered("a correlated subquery with groups", query) from None
        _join_by_key(context, tree, body, counted)
    return exp.Paren(
        this=exp.GT(
            this=exp.Coalesce(this=bound(count), expressions=[exp.Literal.number(0)]), expression=exp.Literal.number(0)
        )
    )
