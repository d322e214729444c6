"""A table or view that is looked at by tests and audits: its change rows, and what it has too many or too few of.

`model` is a relation, which `render()` names, or a subquery's text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.interval import TRACKING
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume import change_checks as checks
from dbt.adapters.streamspark.consume.changes_model import OWN
from dbt.adapters.streamspark.consume.cursor_query import begin, newest_cursor, own_query, query_at
from dbt.adapters.streamspark.consume.final_rows import final_rows
from dbt.adapters.streamspark.errors import InvalidQuery, MissingSource
from dbt.adapters.streamspark.streams.catalog import properties


def rows_of(spark: SparkSession, model: Any, run: str | None, per_commit: bool) -> checks.ChangeRows:
    tracked = not isinstance(model, str) and (properties(spark, model.render()) or {}).get(TRACKING) == "true"
    return checks.change_rows(spark, str(model), run, tracked, per_commit)


def surplus(spark: SparkSession, model: Any, query: Any, start_from: Any) -> str:
    """SQL of the rows that the target and its query at its offset do not have equally often."""
    log = log_of(spark, model)
    wanted = own_query(spark, log) if query is None else _at_cursor(spark, log, query)
    schema = spark.sql(wanted).schema
    if not _holds_changes(spark, model):
        held, wanted = _not_final(spark, log, schema.names, str(model), wanted)
        return checks.equals(None, held, schema, wanted, None)
    rows = rows_of(spark, model, None, False)
    return checks.equals(rows, str(model), schema, wanted, start_of(spark, model, start_from))


def _not_final(spark: SparkSession, log: TableLog, names: Sequence[str], held: str, wanted: str) -> tuple[str, str]:
    """The target and its query without the rows that no run changes (`immutable_where`)."""
    cursor = newest_cursor(log)
    if cursor.made is None or not cursor.made.final:
        return held, wanted
    final = final_rows(spark, cursor.made.final, names, cursor.frontiers[OWN].timestamp).has()
    return f"(select * from {held} where not {final})", f"select * from ({wanted}) where not {final}"


def _holds_changes(spark: SparkSession, model: Any) -> bool:
    try:
        rows_of(spark, model, None, False)
    except InvalidQuery:
        return False
    return True


def log_of(spark: SparkSession, model: Any) -> TableLog:
    if isinstance(model, str):
        raise InvalidQuery(f"this test looks at the table's log, so it takes no `where`: {model}")
    return TableLog(spark, model.render())


def _at_cursor(spark: SparkSession, log: TableLog, query: Any) -> str:
    return query_at(ChangeQuery(spark, str(query)), newest_cursor(log).frontiers.values())


def start_of(spark: SparkSession, model: Any, start_from: Any) -> str | None:
    """As SQL for FROM: what the user says, else what a changes model began with, else nothing."""
    if start_from is not None:
        text = str(start_from)
        return f"({text})" if " " in text.strip() else text
    if isinstance(model, str):
        return None
    try:
        sql = begin(spark, TableLog(spark, model.render()))
    except MissingSource:  # a view
        return None
    return None if sql is None else f"({sql})"
