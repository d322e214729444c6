"""How the changes of a query would be computed; nothing is run (docs/reference/python.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.change_plan import ChangePlan, CommitPlan, OperatorPlan, TablePlan
from dbt.adapters.streamspark.changes.change_query import ChangeQuery, QueryInterval
from dbt.adapters.streamspark.changes.changes import check_asked
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.changes.ends import Point
from dbt.adapters.streamspark.changes.formats import check_monotone, delta_of
from dbt.adapters.streamspark.changes.query import algebra
from dbt.adapters.streamspark.changes.rules_in_words import rule_in_words
from dbt.adapters.streamspark.changes.steps import steps
from dbt.adapters.streamspark.changes.table_plan import looked_up, table_plan

__all__ = ["explain", "plan_of", "table_plan"]


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
    query = ChangeQuery(spark, sql_or_table)
    interval = query.interval(query.frontier(start), query.frontier(end))
    check_asked(interval, format, mode)
    return plan_of(interval, format)


def plan_of(interval: QueryInterval, format: str = "min_delta") -> ChangePlan:
    """The plan of an interval that is known already."""
    if format == "append_only":
        check_monotone(interval)
    net = _plan(interval, format)
    commits = [*_commits(interval)] if format == "redo_log" else []
    if not commits:
        return net
    return replace(net, tables=_sums(net.tables, commits), sql=None, commits=tuple(commits))


def _plan(interval: QueryInterval, format: str) -> ChangePlan:
    root, appended = interval.lowered.root, format == "append_only"
    with Views(interval.query.spark) as views:
        d = interval.differentiation(interval.lowered, views, appended=appended, dry=True)
        sql = _sql(interval, d)
        return ChangePlan(
            format=format,
            operators=tuple(_operators(d, root, 0, interval)),
            tables=tuple(table_plan(leaf, appended, looked_up(d, leaf, sql)) for leaf in interval.leaves.values()),
            fallbacks=tuple(interval.fallbacks),
            sql=sql,
        )


def _sql(interval: QueryInterval, d: Differentiation) -> str | None:
    delta = delta_of(interval, d)
    return None if delta is None else d.timed(f"select * from {d.minimal(interval.lowered.ours, delta)}")


def _commits(interval: QueryInterval) -> Iterator[CommitPlan]:
    for step in steps(interval):
        plan = _plan(step.interval, "redo_log")
        yield CommitPlan(step.table, step.version, plan.tables, plan.sql)


def _sums(tables: Sequence[TablePlan], commits: Sequence[CommitPlan]) -> tuple[TablePlan, ...]:
    """Each table's files and bytes of all commits; its interval and shape are those of the whole."""
    counts = [field.name for field in fields(TablePlan) if "_at_" in field.name]
    summed = []
    for place, table in enumerate(tables):
        sums: Any = {name: _sum(getattr(commit.tables[place], name) for commit in commits) for name in counts}
        summed.append(replace(table, **sums))
    return tuple(summed)


def _sum(counts: Iterator[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count or 0 for count in known)


def _operators(
    d: Differentiation, node: algebra.Operator, depth: int, interval: QueryInterval
) -> Iterator[OperatorPlan]:
    skipped = None if d.has_changed(node) else "unchanged, left out"
    detail = _readable(_detail(node), interval.lowered.shown)
    yield OperatorPlan(_name(node), rule_in_words(d, node), interval.query.shown(detail), depth, skipped)
    for child in node.inputs:
        yield from _operators(d, child, depth + 1, interval)


def _readable(text: str, shown: Mapping[str, str]) -> str:
    """Our column names as people call the columns."""
    return re.sub(r"\bc\d+\b", lambda match: shown.get(match.group(), match.group()), text)


def _name(node: algebra.Operator) -> str:
    return f"Scan {node.table.name}" if isinstance(node, algebra.Scan) else type(node).__name__


def _detail(node: algebra.Operator) -> str:
    if isinstance(node, algebra.Scan):
        return ", ".join(node.names)
    if isinstance(node, algebra.Opaque):
        return str(node.reason)
    return ", ".join(term.sql for term in node.terms)
