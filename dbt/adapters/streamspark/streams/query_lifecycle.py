"""What a run of a stream's model does where the stream is on a query (lifecycle.py has those on a table)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pyspark.sql import SparkSession
from sqlglot import exp

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.query.expanded import parse_query
from dbt.adapters.streamspark.errors import ConsumptionRefused, InvalidStreamConfig, StaleSource
from dbt.adapters.streamspark.streams.base_table import prepare
from dbt.adapters.streamspark.streams.catalog import find_other, stream_properties
from dbt.adapters.streamspark.streams.config import StreamConfig
from dbt.adapters.streamspark.streams.definition import (
    KIND,
    StreamDefinition,
    altered,
    differences,
    new_definition,
)
from dbt.adapters.streamspark.streams.names import table_name
from dbt.adapters.streamspark.streams.on_query import OnQuery
from dbt.adapters.streamspark.streams.start import resolve_starts
from dbt.adapters.streamspark.streams.stored_query import named, normal, reopened, stored, text_of, version_in
from dbt.adapters.streamspark.streams.stream_change import (
    ALTER,
    CREATE,
    KEEP,
    REPLACE,
    StreamChange,
    reaction,
)


def open_query(
    spark: SparkSession, name: str, sql: str, config: StreamConfig, own: TableLog | None = None
) -> ChangeQuery:
    """The query of a model called `name`, its base tables tracked and keeping what they are to keep. `own`: the table
    that the model writes, if it is there.

    Raises InvalidQuery, UnsupportedQuery, InvalidStreamConfig where tracking is not to be switched on, and
    ConsumptionRefused where it reads its own table.
    """
    _refuse_streams(spark, name, sql)
    query = ChangeQuery(spark, sql)
    if own is not None and own.path in {log.path for log in query.logs}:
        raise ConsumptionRefused(
            f"model {name}: its query reads its own table, so each run would change what it gives. Take {{{{ this }}}} "
            "out: what has been read already is known by the offset."
        )
    for log in query.logs:
        prepare(log, config, name)
    return query


def _refuse_streams(spark: SparkSession, name: str, sql: str) -> None:
    for table in parse_query(sql).find_all(exp.Table):
        other = table_name(part.name for part in table.parts)
        if isinstance(table.this, exp.Identifier) and table.args.get("db") and _is_stream(spark, other):
            raise InvalidStreamConfig(
                f"{name} reads the stream {other}, which has no history of its own to follow. Put the stream's query "
                "in its place, or consume it with {{ stream('...') }} in an incremental model."
            )


def _is_stream(spark: SparkSession, name: str) -> bool:
    return not name.startswith("delta.") and (stream_properties(spark, name) or {}).get(KIND) == "stream"


@dataclass(frozen=True)
class QueryStreamModel:
    """A stream on a query as its model describes it."""

    spark: SparkSession = field(repr=False)
    name: str
    sql: str
    config: StreamConfig

    def made(self, existing: StreamDefinition | None) -> StreamChange:
        query = self._query()
        start = resolve_starts(query.logs, self.config.start, partial(find_other, self.spark, self.name))
        definition = new_definition(self.config, stored(query), start)
        opened = OnQuery(self.spark, self.name, definition)
        opened.check()
        return StreamChange(REPLACE if existing else CREATE, definition, opened.view_sql())

    def kept(self, existing: StreamDefinition) -> StreamChange:
        query = self._query()
        changed: dict[str, tuple[Any, Any]] = differences(existing, altered(existing, self.config, stored(query)))
        try:
            before = reopened(self.spark, self.name, text_of(existing), existing.start)
        except StaleSource:  # its consumers may be far ahead: they go on, only the view cannot
            if changed or existing.query != stored(query):
                raise
            return StreamChange(KEEP, existing, None)
        same = normal(before) == normal(query)
        if not same:
            changed = {"query": (named(before), named(query)), **changed}
        action, notes = reaction(self.name, self.config, existing, changed)
        if action == KEEP:
            return self._view(KEEP, existing, notes)
        return self._altered(existing, before if same else query, notes)

    def as_it_is(self, existing: StreamDefinition) -> StreamChange:
        """Whatever the model's query is now."""
        return self._view(KEEP, existing, ())

    def _query(self) -> ChangeQuery:
        return open_query(self.spark, self.name, self.sql, self.config)

    def _altered(self, existing: StreamDefinition, query: ChangeQuery, notes: tuple[str, ...]) -> StreamChange:
        start = self._start(existing, query)
        wanted = replace(altered(existing, self.config, stored(query)), start=start)
        OnQuery(self.spark, self.name, wanted).check()
        return self._view(ALTER, wanted, notes)

    @staticmethod
    def _start(existing: StreamDefinition, query: ChangeQuery) -> Frontier:
        """The offset as it was; a table that the query did not read before counts from now on."""
        known = {log.table_id: version_in(log, existing.start) for log in query.logs}
        versions = {
            log.table_id: log.version if known[log.table_id] is None else known[log.table_id] for log in query.logs
        }
        return query.frontier({key: version for key, version in versions.items() if version is not None})

    def _view(self, action: str, stream: StreamDefinition, notes: tuple[str, ...]) -> StreamChange:
        return StreamChange.with_view(action, stream, lambda: OnQuery(self.spark, self.name, stream).view_sql(), notes)
