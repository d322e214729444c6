"""From the rows of one query to the rows of another: what a reader gets once when its stream's query has changed."""

from __future__ import annotations

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.changes import read_changes
from dbt.adapters.streamspark.changes.commit_times import OneTime
from dbt.adapters.streamspark.changes.differentiate.copies import bag_difference
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.changes.projection import quoted, type_sql
from dbt.adapters.streamspark.changes.temp_relation import relations
from dbt.adapters.streamspark.streams.bag_rows import bag_rows


def redefined(old: ChangeQuery, start: Frontier, new: ChangeQuery, end: Frontier, metadata_columns: str) -> DataFrame:
    """What the new query has at the end more often than the old one had at the start, and less often: inserts and
    deletes, told apart by their values alone, in the new query's columns. A column that the old one lacks is NULL."""
    dialect = DIALECTS[metadata_columns]
    after = _all_rows(new, end)
    before = _in_columns_of(after, _all_rows(old, start))
    names, types = [quoted(name) for name in after.columns], [field.dataType for field in after.schema.fields]
    with relations(new.spark, before=before, after=after) as views:
        rows = bag_rows(after.columns, bag_difference(names, types, views["before"], views["after"]).sql)
        return new.spark.sql(f"select {', '.join(['__data.*', *dialect.select(OneTime(end.timestamp))])} from ({rows})")


def _all_rows(query: ChangeQuery, point: Frontier) -> DataFrame:
    """The rows at a point, the functions that tell the time bound to it."""
    interval = query.interval(None, point)
    return read_changes(interval).select(*(quoted(name) for name in interval.lowered.schema.names))


def _in_columns_of(after: DataFrame, before: DataFrame) -> DataFrame:
    known = {name.lower() for name in before.columns}
    columns = []
    for field in after.schema.fields:
        value = quoted(field.name) if field.name.lower() in known else "null"
        columns.append(f"cast({value} as {type_sql(field.dataType)}) as {quoted(field.name)}")
    return before.selectExpr(*columns)
