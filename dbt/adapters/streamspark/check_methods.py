"""What the macros of the generic tests on changes ask the adapter: SQL that gives a row for each problem."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.base.meta import AdapterMeta
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.interval import TRACKING
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume import change_checks as checks
from dbt.adapters.streamspark.consume.cursor_query import begin, newest_cursor, own_query, query_at, reached
from dbt.adapters.streamspark.errors import InvalidQuery, MissingSource
from dbt.adapters.streamspark.literals import literal
from dbt.adapters.streamspark.streams.catalog import properties


class CheckMethods(metaclass=AdapterMeta):
    """Mixed into the adapter. `model` is the tested relation, or a subquery's text where the test has a `where`."""

    def spark(self) -> SparkSession:
        raise NotImplementedError

    def _errors(self, doing: str) -> AbstractContextManager[None]:
        raise NotImplementedError

    @contextmanager
    def _checking(self, model: Any) -> Iterator[SparkSession]:
        with self._errors(f"test of {model}"):
            yield self.spark()

    @available.parse(lambda *args, **kwargs: "")
    def valid_change_set(self, model: Any, run: str | None, per_commit: bool) -> str:
        with self._checking(model) as spark:
            return checks.valid_change_set(_rows(spark, model, run, per_commit))

    @available.parse(lambda *args, **kwargs: "")
    def applies_cleanly(self, model: Any, start_from: Any, run: str | None, per_commit: bool) -> str:
        with self._checking(model) as spark:
            rows = _rows(spark, model, run, per_commit)
            return checks.applies_cleanly(rows, _start(spark, model, start_from))

    @available.parse(lambda *args, **kwargs: "")
    def equals_full_refresh(self, model: Any, query: Any, start_from: Any) -> str:
        with self._checking(model) as spark:
            return _surplus(spark, model, query, start_from)

    @available.parse_none
    def audit(self, model: Any, query: Any) -> checks.Audit:
        """Counts of what differs between a target and its query at its offset."""
        with self._checking(model) as spark:
            return checks.audit(spark, str(model), _surplus(spark, model, query, None))

    @available.parse(lambda *args, **kwargs: "")
    def same_frontier(self, model: Any, to: Any) -> str:
        with self._checking(model) as spark:
            ours, theirs = (reached(newest_cursor(_log(spark, one))) for one in (model, to))
            if not set(ours) & set(theirs):
                raise InvalidQuery(f"{model} and {to} have consumed no table in common: {list(ours)}, {list(theirs)}")
            pairs = ((name, ours[name], theirs[name]) for name in ours if name in theirs and ours[name] != theirs[name])
            rows = ", ".join(f"({literal(name)}, {ours}, {theirs})" for name, ours, theirs in pairs)
            nothing = "(cast(null as string), 0, 0)"
            found = f"select * from values {rows or nothing} as t (base_table, ours, theirs)"
            return f"{found} where base_table is not null"

    @available.parse(lambda *args, **kwargs: "")
    def change_volume(self, model: Any, least: int, most: int | None, run: str | None) -> str:
        with self._checking(model) as spark:
            return checks.change_volume(_rows(spark, model, run, False), least, most)


def _rows(spark: SparkSession, model: Any, run: str | None, per_commit: bool) -> checks.ChangeRows:
    tracked = not isinstance(model, str) and (properties(spark, model.render()) or {}).get(TRACKING) == "true"
    return checks.change_rows(spark, str(model), run, tracked, per_commit)


def _surplus(spark: SparkSession, model: Any, query: Any, start_from: Any) -> str:
    """SQL of the rows that the target and its query at its offset do not have equally often."""
    log = _log(spark, model)
    wanted = own_query(spark, log) if query is None else _at_cursor(spark, log, query)
    schema = spark.sql(wanted).schema
    if not _holds_changes(spark, model):
        return checks.equals(None, str(model), schema, wanted, None)
    rows = _rows(spark, model, None, False)
    return checks.equals(rows, str(model), schema, wanted, _start(spark, model, start_from))


def _holds_changes(spark: SparkSession, model: Any) -> bool:
    try:
        _rows(spark, model, None, False)
    except InvalidQuery:
        return False
    return True


def _log(spark: SparkSession, model: Any) -> TableLog:
    if isinstance(model, str):
        raise InvalidQuery(f"this test looks at the table's log, so it takes no `where`: {model}")
    return TableLog(spark, model.render())


def _at_cursor(spark: SparkSession, log: TableLog, query: Any) -> str:
    return query_at(ChangeQuery(spark, str(query)), newest_cursor(log).frontiers.values())


def _start(spark: SparkSession, model: Any, start_from: Any) -> str | None:
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
