"""SQL of one operator over its inputs, the same for the rows at an end and for signed rows.

Inputs have an alias where WHERE follows: Spark reads `from (…) where (x)` as an alias `where` with a column `x`.

Every relation has the operator's columns and `__id`. Ids: a table's own row id; joined with `-` where rows are
joined, `x` standing for the missing side of an outer join; numbered by branch under UNION ALL; made of the keys of a
group; with the element's place under explode.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from sqlglot import exp, parse_one

from dbt.adapters.streamspark.changes.identity import identity
from dbt.adapters.streamspark.changes.query import algebra
from dbt.adapters.streamspark.changes.query.dialects import PlainSpark

_ONE = "'all' as __id"

Inputs = Sequence[str]
Carried = Sequence[str]


@singledispatch
def rows(node: algebra.Operator, inputs: Inputs, carried: Carried = ()) -> str:
    """`inputs` are relations for FROM; `carried` are columns of the (left) input to hand on as they are."""
    raise TypeError(f"{type(node).__name__} has no rows of its own")


def listed(*parts: Sequence[str]) -> str:
    return ", ".join(item for part in parts for item in part)


def named(items: Sequence[algebra.Item]) -> list[str]:
    return [f"{term.sql} as {name}" for name, term in items]


@rows.register
def _(node: algebra.Project, inputs: Inputs, carried: Carried = ()) -> str:
    return f"select {listed(named(node.items), ['__id'], carried)} from {inputs[0]}"


@rows.register
def _(node: algebra.Filter, inputs: Inputs, carried: Carried = ()) -> str:
    return f"select {listed(node.columns, ['__id'], carried)} from {inputs[0]} q where {node.predicate.sql}"


@rows.register
def _(node: algebra.Generate, inputs: Inputs, carried: Carried = ()) -> str:
    row_id = f"concat(__id, '#', coalesce(cast({node.position} as string), '')) as __id"
    view = f"lateral view {'outer ' if node.outer else ''}posexplode({node.argument.sql})"
    made = ", ".join((node.position, *node.names))
    return f"select {listed(node.columns, [row_id], carried)} from {inputs[0]} q {view} __elements as {made}"


@rows.register
def _(node: algebra.Aggregate, inputs: Inputs, carried: Carried = ()) -> str:
    if not node.keys:
        return f"select {listed(named(node.aggregates) or ['count(*) as __rows'], [_ONE])} from {inputs[0]}"
    keys = [name for name, _ in node.keys]
    keyed = f"select *, {listed(named(node.keys))} from {inputs[0]}"
    grouped = listed(keys, named(node.aggregates), [f"{identity(keys)} as __id"])
    return f"select {grouped} from ({keyed}) group by {listed(keys)}"


@rows.register
def _(node: algebra.Window, inputs: Inputs, carried: Carried = ()) -> str:
    """Rows of other `carried` values are in other windows."""
    items, places = ([(name, _by(term, carried)) for name, term in some] for some in (node.items, node.places))
    source = f"(select *, {listed(named(places))} from {inputs[0]})" if places else inputs[0]
    return f"select {listed(node.child.columns, named(items), ['__id'], carried)} from {source}"


def _by(term: algebra.Term, columns: Carried) -> algebra.Term:
    """A window function that is partitioned by these columns too."""
    if not columns:
        return term
    window = parse_one(term.sql, dialect=PlainSpark).assert_is(exp.Window)
    window.args["partition_by"].extend(exp.column(name) for name in columns)
    return algebra.Term.of(window)


@rows.register
def _(node: algebra.TopK, inputs: Inputs, carried: Carried = ()) -> str:
    limit = f" limit {node.limit}" if node.limit else ""
    offset = f" offset {node.offset}" if node.offset else ""
    order = listed([term.sql for term in node.order], ["__id"])
    return f"select {listed(node.columns, ['__id'])} from {inputs[0]} order by {order}{limit}{offset}"


@rows.register
def _(node: algebra.OuterJoin, inputs: Inputs, carried: Carried = ()) -> str:
    row_id = "concat(coalesce(l.__id, 'x'), '-', coalesce(r.__id, 'x')) as __id"
    kind = "full" if node.full else "left"
    select = listed(node.columns, [row_id], [f"l.{name}" for name in carried])
    return f"select {select} from {inputs[0]} l {kind} join {inputs[1]} r on {on(node.conditions)}"


@rows.register
def _(node: algebra.SemiJoin, inputs: Inputs, carried: Carried = ()) -> str:
    select = listed(node.columns, ["l.__id"], [f"l.{name}" for name in carried])
    if not node.members:
        kind = "anti" if node.anti else "semi"
        return f"select {select} from {inputs[0]} l left {kind} join {inputs[1]} r on {on(node.conditions)}"
    left, right = (listed([side.sql for side in sides]) for sides in zip(*node.members, strict=True))
    inner = f"select {right} from {inputs[1]} r where {on(node.conditions)}"
    return f"select {select} from {inputs[0]} l where ({left}) not in ({inner})"


@rows.register
def _(node: algebra.UnionAll, inputs: Inputs, carried: Carried = ()) -> str:
    return " union all ".join(branch(node, number, relation, carried) for number, relation in enumerate(inputs))


def branch(
    node: algebra.UnionAll, number: int, relation: str, carried: Carried = (), types: Sequence[str] | None = None
) -> str:
    """One branch of a union, in the union's names and, where they are given, its types."""
    picks = node.picks[number]
    cast = picks if types is None else [f"cast({pick} as {kind})" for pick, kind in zip(picks, types, strict=True)]
    columns = [f"{pick} as {name}" for pick, name in zip(cast, node.names, strict=True)]
    return f"select {listed(columns, [f'''concat('{number}:', __id) as __id'''], carried)} from {relation}"


@rows.register
def _(node: algebra.Join, inputs: Inputs, carried: Carried = ()) -> str:
    return joined(node, inputs, first=0)


def joined(
    node: algebra.Join, inputs: Inputs, first: int, carried: Carried = (), ids: Sequence[str] | None = None
) -> str:
    """The join, begun with input `first` and gone on with what it is connected to; `carried` are SQL of its columns,
    the inputs being `q0`, `q1`, …, and `ids` what its rows' ids are made of, where these are not the inputs' own."""
    row_id = f"concat_ws('-', {listed(ids or [f'q{number}.__id' for number in range(len(inputs))])}) as __id"
    text, waiting, known = f"{inputs[first]} q{first}", list(node.conditions), set(node.children[first].columns)
    for number in _order(node, first):
        known |= set(node.children[number].columns)
        ready = [condition for condition in waiting if condition.term.columns <= known]
        waiting = [condition for condition in waiting if condition not in ready]
        text += f" join {inputs[number]} q{number} on {on(ready)}"
    return f"select {listed(node.columns, [row_id], carried)} from {text}"


def _order(node: algebra.Join, first: int) -> list[int]:
    """The other inputs, each as soon as an equality connects it with those before it."""
    order, left = [first], [number for number in range(len(node.children)) if number != first]
    while left:
        known = [column for number in order for column in node.children[number].columns]
        connected = (n for n in left if any(c.pair(known, node.children[n].columns) for c in node.conditions))
        order.append(next(connected, left[0]))
        left.remove(order[-1])
    return order[1:]


def on(conditions: Sequence[algebra.Condition]) -> str:
    return " and ".join(f"({condition.term.sql})" for condition in conditions) or "true"
