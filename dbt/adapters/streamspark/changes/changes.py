"""The changes of any query between two points in the past (docs/reference/python.md)."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery, QueryInterval
from dbt.adapters.streamspark.changes.commit_times import OneTime, Times, commit_times, history_times
from dbt.adapters.streamspark.changes.ends import Point
from dbt.adapters.streamspark.changes.formats import FORMATS
from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS, Dialect
from dbt.adapters.streamspark.changes.read import known
from dbt.adapters.streamspark.changes.rows import union
from dbt.adapters.streamspark.errors import InvalidQuery, UnsupportedQuery

QUERY_MODES = ("auto", "strict")


def changes(
    spark: SparkSession,
    sql_or_table: str,
    start: Point,
    end: Point = None,
    format: str = "min_delta",
    metadata_columns: str = "delta",
    mode: str = "auto",
) -> DataFrame:
    """The changes of a query, table or view after `start` up to and including `end`.

    `start`, `end`: a version (of the one base table), a timestamp, a Frontier, or a dict table -> version; `end` None
    is now. `format`: min_delta (net changes), append_only (rows freshly inserted; monotone queries), redo_log (every
    change of every commit). `metadata_columns`: delta, snowflake or singdata (section 3.5). `mode` strict raises
    UnsupportedQuery where a part of the query would have to be computed whole at both ends.

    Returns the query's columns and the metadata columns. Small deltas are computed on the way; where no base table
    changed, no Spark job runs, now or later.

    Raises InvalidQuery, UnsupportedQuery, InvalidInterval, StaleSource, BrokenSource; InvalidStreamConfig for an
    unknown format, mode or dialect.
    """
    query = ChangeQuery(spark, sql_or_table)
    interval = query.interval(query.frontier(start), query.frontier(end))
    return read_changes(interval, format=format, metadata_columns=metadata_columns, mode=mode)


def read_changes(
    interval: QueryInterval, *, format: str = "min_delta", metadata_columns: str = "delta", mode: str = "auto"
) -> DataFrame:
    """The same of an interval that is known already, also of one without a start."""
    dialect = known("metadata_columns", metadata_columns, DIALECTS)
    check_asked(interval, format, mode)
    check_columns(interval, dialect)
    parts = FORMATS[format](interval)
    return union([rows.selectExpr("__data.*", *dialect.select(_times(part, dialect))) for part, rows in parts])


def check_asked(interval: QueryInterval, format: str, mode: str) -> None:
    """Raises InvalidStreamConfig for an unknown format or mode, UnsupportedQuery for what mode strict refuses."""
    known("format", format, FORMATS)
    known("mode", mode, dict.fromkeys(QUERY_MODES))
    if mode == "strict":
        refuse_fallbacks(interval)


def refuse_fallbacks(interval: QueryInterval) -> None:
    """Raises UnsupportedQuery when a part of the query has no rule."""
    reasons = interval.fallbacks
    if reasons:
        raise UnsupportedQuery(
            f"mode strict: there is no rule for {'; nor for '.join(reasons)}. In mode auto that part is computed "
            "whole at both ends and compared."
        )


def check_columns(interval: QueryInterval, dialect: Dialect) -> None:
    """Raises InvalidQuery where the query has columns of the dialect's names."""
    taken = {name.lower() for name in dialect.names}
    hidden = sorted(name for name in interval.lowered.schema.names if name.lower() in taken)
    if hidden:
        raise InvalidQuery(
            f"the query has columns that the metadata columns would hide: {', '.join(hidden)}. Give them other names. "
            f"Streams and changes() may have other metadata_columns (one of {', '.join(DIALECTS)})."
        )


def _times(interval: QueryInterval, dialect: Dialect) -> Times:
    if len(interval.leaves) != 1:
        return OneTime(interval.end.timestamp)
    leaf = next(iter(interval.leaves.values())).interval
    if dialect.old_times or leaf.start is None:
        return history_times(leaf.log, leaf.end)
    return commit_times(leaf.commits)
