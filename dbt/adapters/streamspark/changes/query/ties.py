"""Ties in windows: of rows that an ORDER BY takes for equals, row ids say which comes first.

Any order would do, but it has to be the same whenever it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp, parse_one

from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered
from dbt.adapters.streamspark.changes.query.scope import bound

ROW_ID = "__id"
BY_POSITION = (exp.RowNumber, exp.Ntile, exp.Lag, exp.Lead)
FIRST = (exp.First, exp.FirstValue, exp.AnyValue)
LAST = (exp.Last, exp.LastValue)
PICKS = (*FIRST, *LAST, exp.NthValue)
BY_VALUE = (exp.ArgMax, exp.ArgMin)

Place = Callable[[exp.Window], str]  # the column that has a row's number by a window


def with_ties_broken(window: exp.Window, place: Place) -> exp.Window:
    """The window with one answer, where it shows which of its rows comes first."""
    function = _function(window)
    if isinstance(function, BY_VALUE):
        return _by_value(window)
    picks = isinstance(function, PICKS)
    if window.args.get("order") is None:
        return _in_order_of_ids(window) if picks or _by_rows(window) else window
    if _by_rows(window) or window.this.find(*BY_POSITION):
        return _ordered(window)
    return _picked(window, function, place) if picks else window


def _function(window: exp.Window) -> Node:
    function = window.this
    return function.this if isinstance(function, exp.IgnoreNulls | exp.RespectNulls) else function


def _by_rows(window: exp.Window) -> bool:
    spec = window.args.get("spec")
    return spec is not None and str(spec.args.get("kind", "")).upper() == "ROWS"


def _ordered(window: exp.Window) -> exp.Window:
    """Ordered by ids at last. In a frame of rows that are equals no more, RANGE would mean something else."""
    copy = window.copy()
    copy.args["order"].append("expressions", exp.Ordered(this=bound(ROW_ID), nulls_first=True))
    return copy


def _in_order_of_ids(window: exp.Window) -> exp.Window:
    """A window without an ORDER BY, which is all of the partition's rows unless it counts them."""
    copy = window.copy()
    copy.set("order", exp.Order(expressions=[exp.Ordered(this=bound(ROW_ID), nulls_first=True)]))
    if not _by_rows(window):
        whole = parse_one("x() over (rows between unbounded preceding and unbounded following)", dialect="spark")
        copy.set("spec", whole.args["spec"])
    return copy


def _by_value(window: exp.Window) -> exp.Window:
    """The value at the greatest or least, which several rows may have."""
    copy = window.copy()
    greatest = copy.this.expression
    with_id = exp.Struct(expressions=[greatest.copy(), bound(ROW_ID)])
    copy.this.set("expression", _unless_null(greatest, with_id))
    return copy


def _picked(window: exp.Window, function: Node, place: Place) -> exp.Window:
    """The value of the row whose number in the partition is the least or the greatest of the frame, which stays as it
    is: equals of the current row are in it."""
    numbering = exp.Window(
        this=exp.RowNumber(), over="OVER", **{key: window.args.get(key) for key in ("partition_by", "order")}
    )
    number = bound(place(_ordered(numbering.copy())))
    kind = exp.ArgMin if isinstance(function, FIRST) else exp.ArgMax
    copy = window.copy()
    copy.set("this", kind(this=function.this.copy(), expression=_counted(window, function, number)))
    return copy


def _counted(window: exp.Window, function: Node, number: Node) -> Node:
    """The number of a row that may be picked, NULL for others."""
    ignores_nulls = isinstance(window.this, exp.IgnoreNulls)
    if not isinstance(function, exp.NthValue):
        return _unless_null(function.this, number) if ignores_nulls else number
    if ignores_nulls or function.args.get("from_first") or not _from_the_first(window):
        raise NotCovered("nth_value() of other rows than a partition's first ones, where rows may tie", window)
    return exp.If(
        this=exp.EQ(this=number, expression=function.args["offset"].copy()), true=number.copy(), false=exp.Null()
    )


def _from_the_first(window: exp.Window) -> bool:
    spec = window.args.get("spec")
    return spec is None or str(spec.args.get("start", "")).upper() == "UNBOUNDED"


def _unless_null(value: Node, then: Node) -> Node:
    return exp.If(this=exp.Is(this=exp.Paren(this=value.copy()), expression=exp.Null()), true=exp.Null(), false=then)
