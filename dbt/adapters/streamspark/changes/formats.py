"""Formats of a change set (paper, section 2.1): min-delta, append-only, redo log.

Each is a function of a query's interval that gives internal change rows (metadata_columns.py), in one part or, where
every commit counts, in a part for each commit: pairs of an interval and its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.change_query import QueryInterval
from dbt.adapters.streamspark.changes.differentiate.delta import PLUS, Delta, signed
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, Differentiation
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.changes.query import algebra
from dbt.adapters.streamspark.changes.steps import Step, steps
from dbt.adapters.streamspark.errors import UnsupportedQuery
from dbt.adapters.streamspark.literals import literal

MONOTONE = (
    algebra.Scan,
    algebra.Constant,
    algebra.Project,
    algebra.Filter,
    algebra.Generate,
    algebra.Join,
    algebra.UnionAll,
)
_TYPE = (
    "if(__sign = 1, if(__paired, 'update_postimage', 'insert'), if(__paired, 'update_preimage', 'delete')) as __type"
)


Parts = list[tuple[QueryInterval, DataFrame]]


def min_delta(interval: QueryInterval) -> Parts:
    """The net changes."""
    return [(interval, _net_changes(interval))]


def _net_changes(interval: QueryInterval) -> DataFrame:
    with Views(interval.query.spark) as views:
        d = interval.differentiation(interval.lowered, views)
        return _rows(interval, d, delta_of(interval, d))


def delta_of(interval: QueryInterval, d: Differentiation) -> Delta | None:
    """The query's signed rows: without a start, all that there are at the end. None where nothing has changed."""
    root = interval.lowered.root
    if interval.start is None:
        return Delta(f"({signed(root.columns, d.at(root, END), PLUS)})", minus=False)
    return d.delta(root)


def append_only(interval: QueryInterval) -> Parts:
    """Rows freshly inserted, as they were inserted. Raises UnsupportedQuery for a query in which an insert into a
    table can take a row away (paper, section 2.2.1)."""
    check_monotone(interval)
    with Views(interval.query.spark) as views:
        d = interval.differentiation(interval.lowered, views, appended=interval.start is not None)
        return [(interval, _rows(interval, d, delta_of(interval, d)))]


def check_monotone(interval: QueryInterval) -> None:
    """Raises UnsupportedQuery, which names the operator."""
    for node in interval.lowered.root.walk():
        if not isinstance(node, MONOTONE):
            raise UnsupportedQuery(
                f"format append_only takes queries whose rows only ever come as rows are inserted, and this one has "
                f"{interval.query.shown(describe(node))}. Use format min_delta."
            )


def describe(node: algebra.Operator) -> str:
    """An operator's name and what it does, for messages."""
    if isinstance(node, algebra.Opaque):
        return str(node.reason)
    return f"{_NAMES[type(node)]}{f', at {node.place}' if node.place else ''}"


_NAMES: dict[type[algebra.Operator], str] = {
    algebra.Aggregate: "a GROUP BY, DISTINCT or aggregate",
    algebra.Window: "a window function",
    algebra.TopK: "an ORDER BY with LIMIT",
    algebra.OuterJoin: "an outer join",
    algebra.SemiJoin: "an EXISTS, IN, semi or anti join",
}


def redo_log(interval: QueryInterval) -> Parts:
    """Every change of every commit of a base table, commit by commit: the paper's future work."""
    if interval.start is None:
        return min_delta(interval)
    return [(step.interval, _of_commit(step)) for step in steps(interval)] or min_delta(interval)


def _of_commit(step: Step) -> DataFrame:
    columns = ("__type", f"{step.version}L as __version", "__image", "__row", "__data")
    return _net_changes(step.interval).selectExpr(*columns)


def _rows(interval: QueryInterval, d: Differentiation, delta: Delta | None) -> DataFrame:
    """The delta's net changes as internal change rows, under the names that the query gives."""
    found = interval.lowered
    pairs = list(zip(found.schema.names, found.ours, strict=True))
    data = ", ".join(f"{literal(name)}, {ours}" for name, ours in pairs)
    if delta is None:  # only the columns are needed: no table is listed for them
        none = interval.differentiation(found, d.views, dry=True)
        source, where = f"(select *, {_NO_CHANGE} from {none.at(found.root, END)})", " where false"
    else:
        source, where = d.minimal(found.ours, delta), ""
    row = "__id" if _keeps_ids(found.root) else "md5(__id)"
    version = _version(interval)
    return d.ask(
        f"select {_TYPE}, coalesce(__version, {version}) as __version, coalesce(__image, {version}) as __image, "
        f"cast({row} as string) as __row, named_struct({data}) as __data from {source}{where}"
    )


_NO_CHANGE = "1 as __sign, false as __paired, cast(null as bigint) as __version, cast(null as bigint) as __image"


def _keeps_ids(node: algebra.Operator) -> bool:
    """Columns and filters of one table leave its rows their ids (paper, section 3.2.4)."""
    while isinstance(node, algebra.Project | algebra.Filter):
        node = node.child
    return isinstance(node, algebra.Scan)


def _version(interval: QueryInterval) -> str:
    """The commit of a change that no single commit made: the end's version, where there is but one table."""
    versions: Sequence[int] = list(interval.end.values())
    return f"{versions[0]}L" if len(versions) == 1 else "cast(null as bigint)"


FORMATS: dict[str, Callable[[QueryInterval], Parts]] = {
    "min_delta": min_delta,
    "append_only": append_only,
    "redo_log": redo_log,
}
