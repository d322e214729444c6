"""One SELECT, clause by clause, in the order in which SQL computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.algebra import Aggregate, Filter, Item, Operator, Project, Term, TopK
from dbt.adapters.streamspark.changes.query.aliases import ordered, written_out
from dbt.adapters.streamspark.changes.query.alone import names_given
from dbt.adapters.streamspark.changes.query.grouping import aggregate, is_grouped
from dbt.adapters.streamspark.changes.query.joins import JoinTree, conjuncts
from dbt.adapters.streamspark.changes.query.lowering import Ctes, Lowering, Relation
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered, place
from dbt.adapters.streamspark.changes.query.predicates import where
from dbt.adapters.streamspark.changes.query.scope import Column, Scope, bound
from dbt.adapters.streamspark.changes.query.sources import exploded, lower_from
from dbt.adapters.streamspark.changes.query.subqueries import Context, replace_subqueries
from dbt.adapters.streamspark.changes.query.time_windows import time_windows
from dbt.adapters.streamspark.changes.query.windows import lower_windows
from dbt.adapters.streamspark.errors import UnsupportedQuery

UNDERSTOOD = frozenset(
    (
        *("with_", "expressions", "from_", "joins", "laterals", "where", "group", "having", "qualify", "windows"),
        *("distinct", "order", "limit", "offset", "hint", "sort", "cluster", "distribute", "operation_modifiers"),
    )
)
GROUPINGS = (exp.Group, exp.Tuple, exp.Rollup, exp.Cube, exp.GroupingSets)


@dataclass
class Clauses:
    """The expressions of a SELECT with aliases written out: (name, expression) of the select list, HAVING and
    QUALIFY as conjuncts, ORDER BY."""

    items: list[tuple[str, Node]]
    having: list[Node] = field(default_factory=list)
    qualify: list[Node] = field(default_factory=list)
    order: list[Node] = field(default_factory=list)

    @property
    def all(self) -> list[Node]:
        return [*(node for _, node in self.items), *self.having, *self.qualify, *self.order]

    def changed(self, change: Callable[[Node], Node]) -> Clauses:
        """With each expression as `change` gives it back."""
        others = (list(map(change, nodes)) for nodes in (self.having, self.qualify, self.order))
        return Clauses([(name, change(node)) for name, node in self.items], *others)


def lower_select(low: Lowering, select: exp.Select, ctes: Ctes) -> Relation:
    """The operators of a SELECT. Raises NotCovered, and UnsupportedQuery for LIMIT without ORDER BY."""
    _check_clauses(select)
    scope = Scope()
    tree, conditions = lower_from(low, select, ctes, scope)
    context = Context(low, ctes, scope)
    where(context, tree, [*conditions, *([select.args["where"].this] if select.args.get("where") else [])])
    clauses = _clauses(context, select, tree)
    group = _group(select, scope, clauses)
    windowed = time_windows(context, tree, [*clauses.all, *([group] if group else [])])
    clauses = clauses.changed(windowed)
    context = _grouped(context, tree, select, group and windowed(group), clauses)
    where(context, tree, clauses.having)
    items, order = _computed(context, tree, clauses)
    return _result(low, select, tree.node, items, order)


def _check_clauses(select: exp.Select) -> None:
    for clause, value in select.args.items():
        if value and clause not in UNDERSTOOD:
            raise NotCovered(clause.upper().strip("_"), select)
    if (select.args.get("limit") or select.args.get("offset")) and not _none(select):
        check_ordered(select)


def check_ordered(query: Node) -> None:
    """Of a query with LIMIT. Raises UnsupportedQuery."""
    if not query.args.get("order"):
        raise UnsupportedQuery(
            f"LIMIT without ORDER BY gives any rows there are, so that its changes cannot be told: {place(query)}. "
            "Add an ORDER BY that leaves no ties."
        )


def _none(select: exp.Select) -> bool:
    """LIMIT 0 without an order, which dbt writes with --empty."""
    limit = select.args.get("limit")
    zero = limit is not None and isinstance(limit.expression, exp.Literal) and limit.expression.name == "0"
    return zero and not select.args.get("order")


def _clauses(context: Context, select: exp.Select, tree: JoinTree) -> Clauses:
    scope, items = context.scope, _items(context, select, tree)
    written: list[tuple[str, Node]] = []
    for name, node in items:  # an expression may name the aliases before it
        earlier = {known.lower(): before for known, before in written}
        written.append((name, written_out(select, node, scope, earlier)))
    aliases = {name.lower(): node for name, node in written}
    clauses = Clauses(written)
    for clause in ("having", "qualify"):
        if select.args.get(clause):
            parts = [written_out(select, part, scope, aliases) for part in conjuncts(select.args[clause].this)]
            setattr(clauses, clause, parts)
    if (select.args.get("limit") or select.args.get("offset")) and not _none(select):
        clauses.order = [ordered(select, node, scope, aliases, written) for node in select.args["order"].expressions]
    return clauses


def _items(context: Context, select: exp.Select, tree: JoinTree) -> list[tuple[str, Node]]:
    return [item for node in select.expressions for item in _item(context, select, node, tree)]


def _item(context: Context, select: exp.Select, node: Node, tree: JoinTree) -> Iterator[tuple[str, Node]]:
    star = node.this if isinstance(node, exp.Column) else node
    if isinstance(star, exp.Star):
        yield from ((name, bound(ours)) for name, ours in _star(node, star, context.scope))
    elif isinstance(node.unalias() if not isinstance(node, exp.Aliases) else node.this, exp.Explode | exp.ExplodeOuter):
        call = node.this if isinstance(node, exp.Alias | exp.Aliases) else node
        aliases = [alias.name for alias in node.expressions] if isinstance(node, exp.Aliases) else [node.alias]
        names = [name for name in aliases if name] or names_given(context.low, select, context.ctes, call)
        columns = exploded(context.low, call, names, context.scope, tree, outer=False)
        yield from ((name, bound(ours)) for name, ours in columns)
    else:
        yield node.alias_or_name, node.unalias()


def _star(node: Node, star: exp.Star, scope: Scope) -> list[Column]:
    if star.args.get("replace") or star.args.get("rename"):
        raise NotCovered("* REPLACE or RENAME", node)
    qualifier = [part.name for part in node.parts[:-1]] if isinstance(node, exp.Column) else []
    left_out = {column.name.lower() for column in star.args.get("except_") or []}
    return [column for column in scope.star(qualifier) if column[0].lower() not in left_out]


def _grouped(context: Context, tree: JoinTree, select: exp.Select, group: Node | None, clauses: Clauses) -> Context:
    """The context of what is computed after grouping."""
    if not is_grouped(context, select, clauses.all):
        return context
    items = [node for _, node in clauses.items]
    return replace(context, finish=aggregate(context, tree, group, clauses.all, items))


def _group(select: exp.Select, scope: Scope, clauses: Clauses) -> Node | None:
    """GROUP BY with numbers and aliases written out."""
    group = select.args.get("group")
    if group is None:
        return None
    aliases = {name.lower(): node for name, node in clauses.items}
    group = group.copy()

    def with_places(part: Node) -> Node:
        is_place = isinstance(part, exp.Literal) and part.is_int and isinstance(part.parent, GROUPINGS)
        return clauses.items[int(part.name) - 1][1].copy() if is_place else part

    return written_out(select, group.transform(with_places), scope, aliases)


def _computed(context: Context, tree: JoinTree, clauses: Clauses) -> tuple[list[tuple[str, Node]], list[Node]]:
    """The select list and ORDER BY, bound, with subqueries and windows made columns of `tree`; QUALIFY is done."""
    nodes = [_bound(context, tree, node) for node in clauses.all[: len(clauses.items)]]
    qualify = [_bound(context, tree, node) for node in clauses.qualify]
    order = [_bound(context, tree, node) for node in clauses.order]
    computed = lower_windows(context.low, tree, [*nodes, *qualify, *order], _first_window(clauses))
    for node in computed[len(nodes) : len(nodes) + len(qualify)]:
        tree.require(node)
    names = [name for name, _ in clauses.items]
    return list(zip(names, computed[: len(nodes)], strict=True)), computed[len(nodes) + len(qualify) :]


def _first_window(clauses: Clauses) -> str:
    windows = (window for node in clauses.all for window in node.find_all(exp.Window))
    return next((place(window) for window in windows), "")


def _bound(context: Context, tree: JoinTree, node: Node) -> Node:
    return context.bind(replace_subqueries(context, tree, node) if node.find(exp.Query) else node)


def _result(
    low: Lowering, select: exp.Select, node: Operator, items: list[tuple[str, Node]], order: list[Node]
) -> Relation:
    computed: list[Item] = [(low.names.new(name), Term.of(item)) for name, item in items]
    sorting: list[Item] = [(low.names.new(), Term.of(key.this)) for key in order]
    ours = [name for name, _ in computed]
    if select.args.get("distinct"):
        sorting = [(_among(computed, term, select), term) for _, term in sorting]
        node = Project(node, computed)
        node, renamed = distinct(low, node, ours)
        sorting = [(renamed[name], term) for name, term in sorting]
        ours = [renamed[name] for name in ours]
    else:
        node = Project(node, [*computed, *sorting])
    if order:
        node, ours = top_k(
            low, select, node, ours, [(name, key) for (name, _), key in zip(sorting, order, strict=True)]
        )
    elif _none(select):
        node = Filter(node, Term("false", frozenset()))
    return Relation(node, tuple(zip((name for name, _ in items), ours, strict=True)))


def _among(computed: Sequence[Item], term: Term, select: exp.Select) -> str:
    for name, known in computed:
        if known.sql == term.sql:
            return name
    raise NotCovered("ORDER BY of what SELECT DISTINCT does not select", select.args["order"])


def distinct(low: Lowering, node: Operator, columns: Sequence[str]) -> tuple[Operator, dict[str, str]]:
    """Each tuple of `columns` once, and their new names."""
    renamed = {name: low.names.new(low.names.shown.get(name, "")) for name in columns}
    keys = [(new, Term.column(name)) for name, new in renamed.items()]
    return Aggregate(node, keys, []), renamed


def top_k(
    low: Lowering, query: Node, node: Operator, columns: Sequence[str], order: Sequence[tuple[str, Node]]
) -> tuple[Operator, list[str]]:
    """The first rows of `node` by `order`: (column, how it is ordered). Returns the new names of `columns`."""
    keys = []
    for name, sorting in order:
        key = sorting.copy()
        key.set("this", bound(name))
        keys.append(Term.of(key))
    limit, offset = (query.args.get(clause) for clause in ("limit", "offset"))
    first = TopK(node, keys, limit and limit.expression.sql("spark"), offset and offset.expression.sql("spark"))
    items = [(low.names.new(low.names.shown.get(name, "")), Term.column(name)) for name in columns]
    return Project(first, items), [name for name, _ in items]
