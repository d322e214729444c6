"""GROUP BY with all of its variants, and the aggregates of a SELECT."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.aggregates import WRAPPERS
from dbt.adapters.streamspark.changes.query.algebra import Aggregate, Item, Operator, Project, Term, UnionAll
from dbt.adapters.streamspark.changes.query.joins import JoinTree
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered
from dbt.adapters.streamspark.changes.query.scope import Names, bind, bound
from dbt.adapters.streamspark.changes.query.subqueries import Context

Set = tuple[str, ...]


@dataclass
class Groups:
    """`keys` are the grouping expressions, bound, by their SQL; `sets` the groupings asked for, each the SQL of some
    of them."""

    keys: dict[str, Node]
    sets: list[Set]
    special: bool = False


@dataclass(frozen=True)
class Grouping:
    """The rows of `child` in `groups`. `calls` are the aggregates, `markers` grouping() and grouping_id(), which tell
    the sets apart; `names` the columns of the keys and of both, each by its bound SQL. `supply` gives more names."""

    child: Operator
    groups: Groups
    calls: dict[str, Term]
    markers: dict[str, Node]
    names: dict[str, str]
    supply: Names


def is_grouped(context: Context, select: exp.Select, expressions: Iterable[Node]) -> bool:
    if select.args.get("group") or select.args.get("having"):
        return True
    return any(context.low.functions.aggregates(part) for part in expressions)


def aggregate(
    context: Context, tree: JoinTree, group: Node | None, expressions: Sequence[Node], items: Sequence[Node]
) -> Callable[[Node], Node]:
    """Make `tree` the groups. Returns what turns a bound expression of the SELECT into one over them.

    `expressions` are all that the SELECT computes (select list, HAVING, …), aliases written out, `items` the select
    list alone.
    """
    groups = _groups(context, group, items)
    calls, markers = _calls(context, expressions), _markers(context, expressions)
    names = {sql: context.low.names.new() for sql in (*groups.keys, *calls, *markers)}
    grouped_away = set(tree.node.columns)
    tree.become(_grouped(Grouping(tree.node, groups, calls, markers, names, context.low.names)))
    return _replacement(names, grouped_away)


def _calls(context: Context, expressions: Iterable[Node]) -> dict[str, Term]:
    """The aggregates, by their bound SQL."""
    found = (call for expression in expressions for call in context.low.functions.aggregates(expression))
    terms = (Term.of(bind(call, context.scope)) for call in found)
    return {term.sql: term for term in terms}


def _replacement(names: dict[str, str], grouped_away: set[str]) -> Callable[[Node], Node]:
    """Groups and aggregates, and whole expressions of them, become columns; others are not there any more."""

    def replace(part: Node) -> Node:
        name = None if _is_windowed(part) else names.get(part.sql("spark", comments=False))
        return part if name is None else bound(name)

    def finish(node: Node) -> Node:
        result = node.transform(replace)
        for column in result.find_all(exp.Column):
            if column.name in grouped_away:
                raise NotCovered("a column that is neither grouped nor aggregated", node)
        return result

    return finish


def _is_windowed(part: Node) -> bool:
    """Whether it is the function that a window is over, which may be spelled as an aggregate is."""
    while isinstance(part.parent, WRAPPERS) and part.arg_key == "this":
        part = part.parent
    return isinstance(part.parent, exp.Window) and part.arg_key == "this"


def _groups(context: Context, group: Node | None, items: Sequence[Node]) -> Groups:
    if group is None:
        return Groups({}, [()])
    if group.args.get("all"):
        keys = _bound_keys(context, (node for node in items if not context.low.functions.aggregates(node)))
        return Groups(keys, [tuple(keys)])
    plain = [node for node in group.expressions if not _is_special(node)]
    legacy = _legacy(group)
    sets: list[Set] = [() if legacy else tuple(_bound_keys(context, plain))]
    special = [*(node for node in group.expressions if _is_special(node)), *legacy]
    keys = _bound_keys(context, [*plain, *(leaf for node in special for leaf in _leaves(node))])
    for node in special:
        sets = [(*one, *other) for one in sets for other in _sets_of(context, node, plain)]
    unique = [tuple(dict.fromkeys(one)) for one in sets]
    return Groups(keys, unique, bool(special))


def _bound_keys(context: Context, nodes: Iterable[Node]) -> dict[str, Node]:
    keys = (bind(node.unalias().unnest(), context.scope) for node in nodes)
    return {key.sql("spark", comments=False): key for key in keys}


def _is_special(node: Node) -> bool:
    return isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets)


def _legacy(group: exp.Group) -> list[Node]:
    """`GROUP BY a, b WITH ROLLUP` and the like, which say what to make of a and b."""
    return [node for clause in ("rollup", "cube", "grouping_sets") for node in group.args.get(clause) or []]


def _leaves(node: Node) -> list[Node]:
    if isinstance(node, exp.Tuple | exp.Rollup | exp.Cube | exp.GroupingSets):
        return [leaf for part in node.expressions for leaf in _leaves(part)]
    return [node.unnest()]


def _sets_of(context: Context, node: Node, plain: Sequence[Node]) -> list[Set]:
    """The groupings that one ROLLUP, CUBE or GROUPING SETS stands for."""
    parts = [tuple(_bound_keys(context, _leaves(part))) for part in (node.expressions or plain)]
    if isinstance(node, exp.GroupingSets):
        nested = [_sets_of(context, part, plain) if _is_special(part) else None for part in node.expressions]
        return [one for part, sets in zip(parts, nested, strict=True) for one in (sets if sets is not None else [part])]
    if isinstance(node, exp.Rollup):
        return [_flat(parts[:size]) for size in range(len(parts), -1, -1)]
    return [_flat(chosen) for size in range(len(parts), -1, -1) for chosen in combinations(parts, size)]


def _flat(parts: Iterable[Set]) -> Set:
    return tuple(sql for part in parts for sql in part)


def _markers(context: Context, expressions: Iterable[Node]) -> dict[str, Node]:
    """grouping() and grouping_id(), which tell the sets apart, by their bound SQL."""
    found = (part for node in expressions for part in node.find_all(exp.Grouping, exp.GroupingId))
    return {node.sql("spark", comments=False): node for node in (bind(part, context.scope) for part in found)}


def _grouped(grouping: Grouping) -> Operator:
    if grouping.groups.special:
        branches = [_branch(grouping, one) for one in grouping.groups.sets]
        return UnionAll(branches, [branch.columns for branch in branches], list(grouping.names.values()))
    keys = [(grouping.names[sql], Term.of(key)) for sql, key in grouping.groups.keys.items()]
    return Aggregate(grouping.child, keys, [(grouping.names[sql], term) for sql, term in grouping.calls.items()])


def _branch(grouping: Grouping, one: Set) -> Operator:
    """One grouping: keys that are not in it are NULL. The grouping by nothing has no row where there is none."""
    child, supply = grouping.child, grouping.supply
    new = {sql: supply.new() for sql in (*one, *grouping.calls)}
    everything = supply.new()
    marked = Project(child, [*((c, Term.column(c)) for c in child.columns), (everything, Term("1", frozenset()))])
    keys: list[Item] = [(new[sql], Term.of(grouping.groups.keys[sql])) for sql in one]
    if not keys:
        keys = [(supply.new(), Term.column(everything))]
    grouped = Aggregate(marked, keys, [(new[sql], term) for sql, term in grouping.calls.items()])
    return Project(grouped, [(supply.new(), _of_set(grouping, sql, new, one)) for sql in grouping.names])


def _of_set(grouping: Grouping, sql: str, new: dict[str, str], one: Set) -> Term:
    if sql in grouping.markers:
        return _told(grouping, grouping.markers[sql], one)
    return Term.column(new[sql]) if sql in new else Term("null", frozenset())


def _told(grouping: Grouping, call: Node, one: Set) -> Term:
    """grouping(x) is 1 where x is not in the set; grouping_id() has a bit for each key, grouping_id(…) for each of
    its arguments."""
    arguments = [argument.sql("spark", comments=False) for argument in call.iter_expressions()]
    bits = "".join("0" if argument in one else "1" for argument in arguments or grouping.groups.keys)
    kind = "tinyint" if isinstance(call, exp.Grouping) else "bigint"
    return Term(f"cast({int(bits, 2)} as {kind})", frozenset())
