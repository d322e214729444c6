"""What a run of a stream's model does: create, replace, alter or keep the stream."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import InvalidStreamConfig, MissingSource, StaleSource, UnsupportedQuery
from dbt.adapters.streamspark.streams.analysed import check_analysed
from dbt.adapters.streamspark.streams.base_query import BaseQuery, parse_base_query
from dbt.adapters.streamspark.streams.base_table import prepare
from dbt.adapters.streamspark.streams.catalog import find_other, find_stream
from dbt.adapters.streamspark.streams.config import StreamConfig
from dbt.adapters.streamspark.streams.definition import StreamDefinition, altered, differences, new_definition
from dbt.adapters.streamspark.streams.opened import open_stream
from dbt.adapters.streamspark.streams.query_lifecycle import QueryStreamModel
from dbt.adapters.streamspark.streams.reading import stream_view_sql
from dbt.adapters.streamspark.streams.source import open_source
from dbt.adapters.streamspark.streams.start import resolve_start
from dbt.adapters.streamspark.streams.stream_change import ALTER, CREATE, KEEP, REPLACE, StreamChange, reaction


@dataclass(frozen=True)
class StreamModel:
    """A stream as its model describes it: name in the catalog, compiled SQL, configuration. `narrowed`: the views that
    it reads may be empty in this run (--empty, --sample), and tell nothing of its query."""

    spark: SparkSession = field(repr=False)
    name: str
    sql: str
    config: StreamConfig
    narrowed: bool = False

    def decide(self, existing: StreamDefinition | None, full_refresh: bool) -> StreamChange:
        """What to do with the stream, given the one that exists. Takes the offset, and gives the base
        table what a stream needs before it does; writes nothing else.

        Columns and rows of one table are a stream on that table, anything else is one on a query, as is what was one
        already. Raises UnsupportedQuery, InvalidQuery, InvalidStreamConfig, InvalidInterval, BrokenSource, SqlError.
        """
        if existing is not None:
            existing = replace(existing, on_stale=self.config.on_stale)
        if existing is not None and existing.on_query and not full_refresh:
            return self._on_query(existing, full_refresh, "its query was more than that before")
        try:
            return self._on_table(existing, full_refresh)
        except UnsupportedQuery as error:
            why = str(error)
        return self._on_query(existing, full_refresh, why)

    def _on_table(self, existing: StreamDefinition | None, full_refresh: bool) -> StreamChange:
        query = parse_base_query(self.sql)
        if existing is None or full_refresh:
            return self._made(query, REPLACE if existing else CREATE)
        return self._kept(query, existing)

    def _on_query(self, existing: StreamDefinition | None, full_refresh: bool, why: str) -> StreamChange:
        """Row ids and files are a table's, and so are the configurations that need them."""
        keys = (self.config.mode == "insert_only" and "mode = 'insert_only'", self.config.unique_key and "unique_key")
        for key in filter(None, keys):
            raise InvalidStreamConfig(
                f"stream {self.name}: {key} is for columns and rows of one table, but {why}. Leave it out, or put the "
                "rest of the query into the model that consumes the stream."
            )
        model = QueryStreamModel(self.spark, self.name, self.sql, self.config)
        if existing is None or full_refresh:
            return model.made(existing)
        return model.as_it_is(existing) if self.narrowed and existing.on_query else model.kept(existing)

    def clone(self) -> StreamChange:
        """The stream that `sql` names, under this name: the same definition, id and offset, so that a clone of a
        consumer goes on where the consumer is."""
        source = find_stream(self.spark, self.sql)
        return StreamChange.with_view(CREATE, source, lambda: open_stream(self.spark, self.sql, source).view_sql())

    def _made(self, query: BaseQuery, action: str) -> StreamChange:
        log = self._base_table(query)
        prepare(log, self.config, self.name)
        tracked = self.config.mode != "insert_only"
        start = resolve_start(log, self.config.start, partial(find_other, self.spark, self.name), tracked)
        definition = new_definition(self.config, query, start)
        return StreamChange(action, definition, stream_view_sql(log, definition))

    def _base_table(self, query: BaseQuery) -> TableLog:
        check_analysed(self.spark, query.text)  # a view, or not there: says so
        try:
            return TableLog(self.spark, query.table)
        except MissingSource as error:
            raise InvalidStreamConfig(
                f"stream {self.name}: table {query.table} is no Delta table; streams read Delta's log."
            ) from error

    def _kept(self, query: BaseQuery, existing: StreamDefinition) -> StreamChange:
        wanted = altered(existing, self.config, query)
        changed = differences(existing, wanted)
        try:
            log = open_source(self.spark, self.name, existing.start)
        except StaleSource:  # its consumers may be far ahead: they go on, only the view cannot
            if changed:
                raise
            return StreamChange(KEEP, existing, None)
        self._check_same_table(query, log)
        action, notes = reaction(self.name, self.config, existing, changed)
        if action == ALTER:
            check_analysed(self.spark, query.text)
        stream = wanted if action == ALTER else existing
        return StreamChange.with_view(action, stream, lambda: stream_view_sql(log, stream), notes)

    def _check_same_table(self, query: BaseQuery, log: TableLog) -> None:
        """The model reads the table that the offset is an offset in; its name may have changed since."""
        try:
            wanted = TableLog(self.spark, query.table)
        except MissingSource:
            return  # renamed, and the model still has the old name
        if wanted.path != log.path:
            raise InvalidStreamConfig(
                f"stream {self.name} is on table {log.name}, but its model now reads {query.table}: an offset in one "
                "table means nothing in another. Run with --full-refresh to start there at now."
            )
