"""Windows of time, which Spark plans as operators and not as the functions that they look like.

A tumbling window is a projection of the rows that have a time. A sliding one makes several rows of each, and a session
joins rows: those have no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.algebra import Project, Term
from dbt.adapters.streamspark.changes.query.functions import function_name
from dbt.adapters.streamspark.changes.query.joins import JoinTree
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered
from dbt.adapters.streamspark.changes.query.scope import TIME_WINDOWS, bind, bound
from dbt.adapters.streamspark.changes.query.subqueries import Context


def time_windows(context: Context, tree: JoinTree, nodes: Iterable[Node]) -> Callable[[Node], Node]:
    """Make the tumbling windows in `nodes`, the expressions of a SELECT, columns of `tree`. Returns what puts these in
    the windows' places. Raises NotCovered for other windows."""
    calls = {_sql(call): _bound(context, call) for node in nodes for call in _calls(node)}
    names = {sql: context.low.names.new() for sql in calls}
    for call in calls.values():
        tree.require(exp.Not(this=exp.Is(this=call.expressions[0].copy(), expression=exp.null())))
    if calls:
        rows = [(name, Term.column(name)) for name in tree.node.columns]
        tree.become(Project(tree.node, [*rows, *((names[sql], Term.of(call)) for sql, call in calls.items())]))
    return lambda node: _with_columns(node, names) if names else node


def _with_columns(node: Node, names: dict[str, str]) -> Node:
    def replaced(part: Node) -> Node:
        if isinstance(part, exp.Query):
            return part.copy()  # a new node is not gone into
        return bound(names[_sql(part)]) if function_name(part) in TIME_WINDOWS else part

    return node.copy().transform(replaced)


def _calls(node: Node) -> Iterator[Node]:
    """Those outside of subqueries."""
    parts = node.walk(prune=lambda part: isinstance(part, exp.Query))
    return (part for part in parts if function_name(part) in TIME_WINDOWS)


def _bound(context: Context, call: Node) -> Node:
    if not _is_tumbling(call):
        raise NotCovered("a window of time that is not a tumbling one", call)
    call = call.copy()
    call.set("expressions", [bind(argument, context.scope) for argument in call.expressions])
    return call


def _is_tumbling(call: Node) -> bool:
    """Whether each row has one window: it does not slide, or as far as it is long."""
    return function_name(call) == "window" and (
        len(call.expressions) == 2 or call.expressions[2] == call.expressions[1]
    )


def _sql(node: Node) -> str:
    return str(node.sql("spark", comments=False))
