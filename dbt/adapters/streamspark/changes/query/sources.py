"""FROM: tables, subqueries, VALUES, joins and lateral views."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.algebra import (
    Condition,
    Constant,
    Generate,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    Term,
)
from dbt.adapters.streamspark.changes.query.alone import names_given
from dbt.adapters.streamspark.changes.query.joins import JoinTree, conjuncts
from dbt.adapters.streamspark.changes.query.lowering import Ctes, Lowering, Relation
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered, place
from dbt.adapters.streamspark.changes.query.parentheses import bare
from dbt.adapters.streamspark.changes.query.scope import Column, Scope, Source, bind, bound

UNDERSTOOD = frozenset(("this", "db", "catalog", "expressions", "alias", "joins", "laterals"))


def lower_from(low: Lowering, select: exp.Select, ctes: Ctes, scope: Scope) -> tuple[JoinTree, list[Node]]:
    """The parts of FROM, whose names are put into `scope`, and the conjuncts of inner joins' ON that hold
    subqueries, to be taken with those of WHERE."""
    tree = JoinTree()
    conditions: list[Node] = []
    clause = select.args.get("from_")
    if clause is None:
        tree.add(Constant("select '0' as __id", []))
        return tree, []
    first = bare(clause.this)
    _first(low, first, ctes, scope, tree)
    for join in [*(first.args.get("joins") or []), *(select.args.get("joins") or [])]:
        if conditions and join.side:
            raise NotCovered("a subquery in ON before an outer join", conditions[0])
        conditions += _join(low, join, ctes, scope, tree)
    for lateral in [*(first.args.get("laterals") or []), *(select.args.get("laterals") or [])]:
        generate(low, lateral, select, ctes, scope, tree)
    return tree, conditions


def _first(low: Lowering, item: Node, ctes: Ctes, scope: Scope, tree: JoinTree) -> None:
    relation, source = source_of(low, item, ctes)
    tree.add(relation.node)
    scope.add(source)


def source_of(low: Lowering, item: Node, ctes: Ctes) -> tuple[Relation, Source]:
    """One item of FROM, and what it is called."""
    for clause, value in item.args.items():
        if value and clause not in UNDERSTOOD:
            raise NotCovered(clause.rstrip("s").upper(), item)
    relation = _relation(low, item, ctes)
    alias = item.args.get("alias")
    columns = relation.columns
    if alias is not None and alias.columns:
        if len(alias.columns) != len(columns):
            raise NotCovered("a list of column names of another length", item)
        columns = tuple((name.name, ours) for name, (_, ours) in zip(alias.columns, columns, strict=True))
    return relation, Source((item.alias_or_name,), columns)


def _relation(low: Lowering, item: Node, ctes: Ctes) -> Relation:
    if isinstance(item, exp.Values):
        return lower_values(low, item)
    if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Query | exp.Values):
        return low.lower(item.this, ctes)
    if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
        return _table(low, item, ctes)
    if isinstance(item, exp.Table) and isinstance(item.this, exp.Anonymous) and item.this.name.lower() == "range":
        return _range(low, item.this)
    raise NotCovered(f"{item.key} in FROM", item)


def _table(low: Lowering, item: exp.Table, ctes: Ctes) -> Relation:
    table = low.tables.get(item.name)
    if table is not None:
        names = {field.name: low.names.new(field.name) for field in low.schemas[item.name].fields}
        return Relation(Scan(table, names), tuple(names.items()))
    cte = ctes.by_name[item.name.lower()]
    relation = low.lower(cte.query, cte.known)
    if not cte.columns:
        return relation
    renamed = zip(cte.columns, (ours for _, ours in relation.columns), strict=True)
    return Relation(relation.node, tuple(renamed))


def lower_values(low: Lowering, values: exp.Values) -> Relation:
    """VALUES: a row's id is its place in the list."""
    if any(value for clause, value in values.args.items() if clause not in UNDERSTOOD):
        raise NotCovered("VALUES with ORDER BY or LIMIT", values)
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in values.expressions]
    names = [low.names.new() for _ in rows[0]]
    texts = [", ".join([f"'{place}'", *(bind(v, Scope()).sql("spark") for v in row)]) for place, row in enumerate(rows)]
    listed = ", ".join(f"({text})" for text in texts)
    sql = f"select * from values {listed} as v({', '.join(['__id', *names])})"
    alias = values.args.get("alias")
    given = [name.name for name in alias.columns] if alias is not None else []
    shown = given or [f"col{place}" for place in range(1, len(names) + 1)]
    return Relation(Constant(sql, names), tuple(zip(shown, names, strict=True)))


def _range(low: Lowering, call: exp.Anonymous) -> Relation:
    name = low.names.new()
    arguments = ", ".join(argument.sql("spark") for argument in call.expressions)
    sql = f"select id as {name}, cast(id as string) as __id from range({arguments})"
    return Relation(Constant(sql, [name]), (("id", name),))


def _join(low: Lowering, join: exp.Join, ctes: Ctes, scope: Scope, tree: JoinTree) -> list[Node]:
    item = bare(join.this)
    if isinstance(item, exp.Lateral):
        raise NotCovered("a LATERAL subquery", join)
    if item.args.get("joins") or item.args.get("laterals"):
        raise NotCovered("joins in parentheses", join)
    relation, source = source_of(low, item, ctes)
    shared = _shared(join, scope, source)
    side, kind = join.side.upper(), join.kind.upper()
    if kind in ("SEMI", "ANTI"):
        _semi(join, scope, tree, relation, source, shared, anti=kind == "ANTI")
        return []
    if side:
        _outer(join, low, scope, tree, relation, source, shared, side)
        return []
    equalities = _equalities(scope, source, shared)
    tree.add(relation.node)
    _merge(scope, source, {name: _column(scope.visible, name) for name in shared})
    for equality in equalities:
        tree.require(equality)
    return _required(join, scope, tree)


def _required(join: exp.Join, scope: Scope, tree: JoinTree) -> list[Node]:
    """ON of an inner join; what of it holds subqueries is left over."""
    parts = list(conjuncts(join.args["on"])) if join.args.get("on") else []
    for part in parts:
        if not part.find(exp.Query) and not _is_true(part):
            tree.require(bind(part, scope))
    return [part for part in parts if part.find(exp.Query)]


def _is_true(node: Node) -> bool:
    return isinstance(node, exp.Boolean) and bool(node.this)


def _shared(join: exp.Join, scope: Scope, source: Source) -> list[str]:
    """The columns of USING, and those that a natural join means."""
    if join.method.upper() == "NATURAL":
        return [name for name, _ in source.columns if scope.knows(name)]
    return [column.name for column in join.args.get("using") or []]


def _equalities(scope: Scope, source: Source, shared: Sequence[str]) -> list[Node]:
    pairs = [(_column(scope.visible, name), _column(source.columns, name)) for name in shared]
    return [exp.EQ(this=bound(left), expression=bound(right)) for left, right in pairs]


def _column(columns: Sequence[Column], name: str) -> str:
    found = {ours for known, ours in columns if known.lower() == name.lower()}
    if len(found) != 1:
        raise NotCovered(f"USING a column that is not there once ({name})")
    return found.pop()


def _merge(scope: Scope, source: Source, merged: dict[str, str]) -> None:
    """`source` joins the scope; the columns of USING come first and stand for both sides' (SQL standard)."""
    lower = {name.lower() for name in merged}
    rest = [pair for pair in (*scope.visible, *source.columns) if pair[0].lower() not in lower]
    scope.sources.append(source)
    scope.visible[:] = [*merged.items(), *rest]


def _conditions(join: exp.Join, scope: Scope, source: Source, shared: Sequence[str]) -> list[Condition]:
    both = Scope([*scope.sources, source], [*scope.visible, *source.columns])
    own = [bind(part, both) for part in conjuncts(join.args["on"])] if join.args.get("on") else []
    return [Condition.of(node) for node in (*_equalities(scope, source, shared), *own)]


def _semi(
    join: exp.Join, scope: Scope, tree: JoinTree, relation: Relation, source: Source, shared: list[str], anti: bool
) -> None:
    tree.become(SemiJoin(tree.node, relation.node, _conditions(join, scope, source, shared), anti, place=place(join)))


def _outer(
    join: exp.Join,
    low: Lowering,
    scope: Scope,
    tree: JoinTree,
    relation: Relation,
    source: Source,
    shared: list[str],
    side: str,
) -> None:
    conditions = _conditions(join, scope, source, shared)
    left, right = (relation.node, tree.node) if side == "RIGHT" else (tree.node, relation.node)
    tree.become(OuterJoin(left, right, conditions, full=side == "FULL", place=place(join)))
    sides = {name: (_column(scope.visible, name), _column(source.columns, name)) for name in shared}
    if side != "FULL":
        _merge(scope, source, {name: pair[side == "RIGHT"] for name, pair in sides.items()})
        return
    _merge(scope, source, _coalesced(low, tree, sides))


def _coalesced(low: Lowering, tree: JoinTree, sides: dict[str, tuple[str, str]]) -> dict[str, str]:
    """Of a full join, a column of USING is that of whichever side is there."""
    if not sides:
        return {}
    made = {name: low.names.new() for name in sides}
    kept = [(name, Term.column(name)) for name in tree.node.columns]
    terms = [(made[name], Term(f"coalesce({a}, {b})", frozenset((a, b)))) for name, (a, b) in sides.items()]
    tree.become(Project(tree.node, [*kept, *terms]))
    return made


def generate(low: Lowering, lateral: exp.Lateral, select: exp.Select, ctes: Ctes, scope: Scope, tree: JoinTree) -> None:
    """LATERAL VIEW [OUTER] explode or posexplode."""
    alias = lateral.args.get("alias")
    names = [name.name for name in alias.columns] if alias is not None else []
    every = exp.Column(this=exp.Star(), table=exp.to_identifier(lateral.alias))
    names = names or names_given(low, select, ctes, every)
    columns = exploded(low, lateral.this, names, scope, tree, outer=bool(lateral.args.get("outer")))
    scope.add(Source((lateral.alias or "__lateral",), tuple(columns)))


def exploded(
    low: Lowering, call: Node, names: Sequence[str], scope: Scope, tree: JoinTree, outer: bool
) -> list[Column]:
    """The columns that explode or posexplode gives, of which `names` are the names."""
    with_position = isinstance(call, exp.Posexplode)
    outer = outer or isinstance(call, exp.ExplodeOuter)
    if not isinstance(call, exp.Explode | exp.ExplodeOuter):
        raise NotCovered("a generator other than explode and posexplode", call)
    array = call.this.expression if isinstance(call.this, exp.Kwarg) else call.this  # LATERAL VIEW takes no names
    position = low.names.new()
    elements = [low.names.new() for _ in names[with_position:]]
    tree.become(Generate(tree.node, Term.of(bind(array, scope)), outer, position, elements))
    ours = [position, *elements] if with_position else elements
    return list(zip(names, ours, strict=True))
