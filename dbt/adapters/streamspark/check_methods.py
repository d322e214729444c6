"""What the macros of the generic tests on changes ask the adapter: SQL that gives a row for each problem."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.base.meta import AdapterMeta
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume import change_checks as checks
from dbt.adapters.streamspark.consume.cursor_query import newest_cursor, reached
from dbt.adapters.streamspark.consume.surplus import log_of, rows_of, start_of, surplus
from dbt.adapters.streamspark.errors import InvalidQuery
from dbt.adapters.streamspark.literals import literal


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
            return checks.valid_change_set(rows_of(spark, model, run, per_commit))

    @available.parse(lambda *args, **kwargs: "")
    def applies_cleanly(self, model: Any, start_from: Any, run: str | None, per_commit: bool) -> str:
        with self._checking(model) as spark:
            rows = rows_of(spark, model, run, per_commit)
            return checks.applies_cleanly(rows, start_of(spark, model, start_from))

    @available.parse(lambda *args, **kwargs: "")
    def equals_full_refresh(self, model: Any, query: Any, start_from: Any) -> str:
        with self._checking(model) as spark:
            return surplus(spark, model, query, start_from)

    @available.parse(lambda *args, **kwargs: "")
    def same_frontier(self, model: Any, to: Any) -> str:
        with self._checking(model) as spark:
            ours, theirs = (reached(newest_cursor(log_of(spark, one))) for one in (model, to))
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
            return checks.change_volume(rows_of(spark, model, run, False), least, most)
