"""How the changes of a query would be computed; nothing is run (DESIGN.md section 3.7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.change_plan import ChangePlan, OperatorPlan, TablePlan
from dbt.adapters.streamspark.changes.change_query import ChangeQuery, QueryInterval
from dbt.adapters.streamspark.changes.changes import refuse_fallbacks
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.changes.differentiate.leaves import Leaf
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.changes.ends import Point
from dbt.adapters.streamspark.changes.fallbacks import reasons
from dbt.adapters.streamspark.changes.formats import FORMATS
from dbt.adapters.streamspark.changes.log import Action
from dbt.adapters.streamspark.changes.query import algebra
from dbt.adapters.streamspark.changes.query.lowered import Lowered
from dbt.adapters.streamspark.changes.read import known

WHOLE = "no rule: all of it at both ends, compared"
RULES_IN_WORDS: dict[type[algebra.Operator], str] = {
    algebra.Scan: "the table's own changes",
    algebra.Constant: "never changes",
    algebra.Project: "row by row, over its input's changes",
    algebra.Filter: "row by row, over its input's changes",
    algebra.Generate: "row by row, over its input's changes; elements that stay cancel out",
    algebra.UnionAll: "the changes of its inputs, tagged by branch",
    algebra.Join: "a term for each input that changed: inputs before it at the start, those after it at the end",
    algebra.OuterJoin: "rows under the keys that a change touches, joined at both ends",
    algebra.SemiJoin: "rows under the keys that a change touches, at both ends",
    algebra.Aggregate: "groups that a change touches, at both ends",
    algebra.Window: "partitions that a change touches, at both ends",
    algebra.TopK: "the first rows at both ends, compared",
}


def explain(
    spark: SparkSession,
    sql_or_table: str,
    start: Point,
    end: Point = None,
    format: str = "min_delta",
    mode: str = "auto",
) -> ChangePlan:
    """The plan of `changes` with the same arguments. Reads logs; runs no Spark job.

    Raises what `changes` raises.
    """
    known("format", format, FORMATS)
    query = ChangeQuery(spark, sql_or_table)
    interval = query.interval(query.frontier(start), query.frontier(end))
    if mode == "strict":
        refuse_fallbacks(interval)
    return plan_of(interval, format)


def plan_of(interval: QueryInterval, format: str = "min_delta") -> ChangePlan:
    """The plan of an interval that is known already."""
    root = interval.lowered.root
    with Views(interval.query.spark) as views:
        d = interval.differentiation(interval.lowered, views, appended=format == "append_only", dry=True)
        return ChangePlan(
            format=format,
            operators=tuple(_operators(d, root, 0, interval)),
            tables=tuple(table_plan(leaf) for leaf in interval.leaves.values()),
            fallbacks=tuple(interval.fallbacks),
            sql=_sql(d, interval.lowered),
        )


def _sql(d: Differentiation, found: Lowered) -> str | None:
    delta = d.delta(found.root)
    return None if delta is None else f"select * from {d.minimal(found.ours, delta)}"


def _operators(
    d: Differentiation, node: algebra.Operator, depth: int, interval: QueryInterval
) -> Iterator[OperatorPlan]:
    skipped = None if d.has_changed(node) else "unchanged, left out"
    detail = _readable(_detail(node), interval.lowered.shown)
    yield OperatorPlan(_name(node), _rule(d, node), interval.query.shown(detail), depth, skipped)
    for child in node.inputs:
        yield from _operators(d, child, depth + 1, interval)


def _readable(text: str, shown: Mapping[str, str]) -> str:
    """Our column names as people call the columns."""
    return re.sub(r"\bc\d+\b", lambda match: shown.get(match.group(), match.group()), text)


def _name(node: algebra.Operator) -> str:
    return f"Scan {node.table.name}" if isinstance(node, algebra.Scan) else type(node).__name__


def _rule(d: Differentiation, node: algebra.Operator) -> str:
    if isinstance(node, algebra.Aggregate) and not node.keys:
        return "its one row at both ends, compared"
    if any(reasons(node)):
        return WHOLE
    if node.reads_clock:
        return "tells the time: all of it at both ends, each at its own time, compared"
    if isinstance(node, algebra.Scan):
        return f"{RULES_IN_WORDS[type(node)]}, {d.leaves[node.table.token].shape}"
    return RULES_IN_WORDS[type(node)]


def _detail(node: algebra.Operator) -> str:
    if isinstance(node, algebra.Scan):
        return ", ".join(node.names)
    if isinstance(node, algebra.Opaque):
        return str(node.reason)
    return ", ".join(term.sql for term in node.terms)


def table_plan(leaf: Leaf) -> TablePlan:
    """What is read of one base table."""
    interval = leaf.interval
    before = [*interval.files.old, *(old for old, _ in interval.files.remarked)]
    after = [*interval.files.new, *(new for _, new in interval.files.remarked)]
    return TablePlan(
        table=leaf.table.name,
        start=interval.start,
        end=interval.end,
        shape=leaf.shape,
        files_at_start=len(before),
        bytes_at_start=_size(before),
        files_at_end=len(after),
        bytes_at_end=_size(after),
    )


def _size(files: list[Action]) -> int:
    return sum(int(file.get("size") or 0) for file in files)
