"""A stream on a query, opened: its base tables found, its interval told by the change query of its text."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery, QueryInterval
from dbt.adapters.streamspark.changes.changes import read_changes, refuse_fallbacks
from dbt.adapters.streamspark.changes.file_changes import ADDED_ONLY, EMPTY, INITIAL_ROWS, MINIMIZE
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.steps import steps
from dbt.adapters.streamspark.errors import InvalidStreamConfig
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.interval_read import Reading
from dbt.adapters.streamspark.streams.query_view import query_view_sql
from dbt.adapters.streamspark.streams.redefined import redefined
from dbt.adapters.streamspark.streams.stored_query import normal, reopened, stored

REDEFINED = "REDEFINED"
FORMATS = {"standard": "min_delta"}  # other modes are called as their formats


class OnQuery:
    """Raises BrokenSource and StaleSource where a base table is not what it was, InvalidQuery, UnsupportedQuery."""

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        stream: StreamDefinition,
        since: Frontier | None = None,
        opened: ChangeQuery | None = None,
    ):
        self.spark = spark
        self.name = name
        self.stream = stream
        self.query = reopened(spark, name, stream.query, stream.start, since, opened)

    @property
    def logs(self) -> Sequence[TableLog]:
        return self.query.logs

    def frontier(self, versions: dict[str, int]) -> Frontier:
        return self.query.at(versions)

    def read(self, start: Frontier | None, end: Frontier, last: str | None = None) -> Reading:
        text = stored(self.query)
        if start is None:
            return Reading(INITIAL_ROWS, lambda: self._initial(end), text, interval=self.query.interval(None, end))
        before = self._other_query(start, last, text)
        if before is not None:
            return Reading(REDEFINED, lambda: self._redefined(before, start, end), text, last or "", many=True)
        interval = self.query.interval(self.query.frontier(start), end)
        return Reading(self._shape(interval), lambda: self._rows(interval), text, interval=interval, many=interval.many)

    def _other_query(self, start: Frontier, last: str | None, text: str) -> ChangeQuery | None:
        """What was read up to `start`, where that was another query."""
        if last is None or last == text:
            return None
        before = reopened(self.spark, self.name, last, start)
        return None if normal(before) == normal(self.query) else before

    def _rows(self, interval: QueryInterval) -> DataFrame:
        return read_changes(
            interval,
            format=FORMATS.get(self.stream.mode, self.stream.mode),
            metadata_columns=self.stream.metadata_columns,
            mode="strict" if self.stream.strict else "auto",
        )

    def _shape(self, interval: QueryInterval) -> str:
        """What counts as a change depends on the mode."""
        if self.stream.mode == "append_only":
            return EMPTY if all(leaf.is_empty(True) for leaf in interval.leaves.values()) else ADDED_ONLY
        if self.stream.mode == "redo_log" and interval.shape == EMPTY:
            return EMPTY if next(steps(interval), None) is None else MINIMIZE
        return interval.shape

    def _initial(self, end: Frontier) -> DataFrame:
        """In a mode of inserts only, the rows at the stream's own start and what was inserted since: a row that was
        there counts even when it is gone by now."""
        if self.stream.mode != "append_only":
            return self._rows(self.query.interval(None, end))
        made = self.query.frontier(self.stream.start)
        first, later = self._rows(self.query.interval(None, made)), self._rows(self.query.interval(made, end))
        both = first.unionByName(later, allowMissingColumns=True)
        return both.select(*(quoted(name) for name in later.columns))

    def _redefined(self, before: ChangeQuery, start: Frontier, end: Frontier) -> DataFrame:
        if self.stream.mode == "append_only":
            raise InvalidStreamConfig(
                f"stream {self.name}: its query is another one than what was read up to now, and append_only has no "
                "way to take rows back that only the old one gave. Run what reads it with --full-refresh."
            )
        if self.stream.strict:
            refuse_fallbacks(self.query.interval(None, end))
        return redefined(before, before.frontier(start), self.query, end, self.stream.metadata_columns)

    def check(self) -> None:
        """Raises UnsupportedQuery, InvalidQuery and the like for a query of which a stream cannot be made."""
        now = self.query.frontier(None)
        self._rows(self.query.interval(now, now))

    def view_sql(self) -> str:
        return query_view_sql(self.query, self.stream)
