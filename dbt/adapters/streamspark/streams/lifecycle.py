"""What a run of a stream's model does: create, replace, alter or keep the stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import InvalidStreamConfig, MissingSource, StaleSource
from dbt.adapters.streamspark.streams.analysed import check_analysed
from dbt.adapters.streamspark.streams.base_query import BaseQuery, parse_base_query
from dbt.adapters.streamspark.streams.catalog import find_stream
from dbt.adapters.streamspark.streams.config import NOW, StreamConfig
from dbt.adapters.streamspark.streams.definition import StreamDefinition, altered, differences, new_definition
from dbt.adapters.streamspark.streams.reading import stream_view_sql
from dbt.adapters.streamspark.streams.retention import extend_retention
from dbt.adapters.streamspark.streams.source import open_source
from dbt.adapters.streamspark.streams.start import resolve_start
from dbt.adapters.streamspark.streams.tracking import ensure_tracking

CREATE, REPLACE, ALTER, KEEP = "create", "replace", "alter", "keep"


@dataclass(frozen=True)
class StreamChange:
    """`action` says what is to be done, `definition` what the stream is then, `sql` the text of its view (None
    when the view cannot be made any more and stays as it is), `notes` what the user should know."""

    action: str
    definition: StreamDefinition
    sql: str | None
    notes: tuple[str, ...] = ()

    @property
    def properties(self) -> Mapping[str, str]:
        return self.definition.to_properties()


@dataclass(frozen=True)
class StreamModel:
    """A stream as its model describes it: name in the catalog, compiled SQL, configuration."""

    spark: SparkSession = field(repr=False)
    name: str
    sql: str
    config: StreamConfig

    def decide(self, existing: StreamDefinition | None, full_refresh: bool) -> StreamChange:
        """What to do with the stream, given the one that exists. Takes the offset, and switches row tracking on
        before it does; writes nothing else.

        Raises UnsupportedQuery, InvalidStreamConfig, InvalidInterval, BrokenSource, SqlError.
        """
        query = parse_base_query(self.sql)
        if existing is None or full_refresh:
            return self._made(query, REPLACE if existing else CREATE)
        return self._kept(query, existing)

    def clone(self) -> StreamChange:
        """The stream that `sql` names, under this name: the same definition, id and offset, so that a clone of a
        consumer goes on where the consumer is."""
        source = find_stream(self.spark, self.sql)
        log = open_source(self.spark, self.sql, source.start)
        return self._view(CREATE, log, source, ())

    def _made(self, query: BaseQuery, action: str) -> StreamChange:
        log = self._base_table(query)
        tracked = self.config.mode != "insert_only"
        if tracked:
            ensure_tracking(log, self.config.enable_tracking, self.name)
        extend_retention(log, self.config.max_data_extension_days)
        start = resolve_start(log, self.config.start, self._lookup, tracked)
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

    def _lookup(self, other: str) -> StreamDefinition:
        """Another stream: by its full name, or in this stream's own schema."""
        schema = self.name.rpartition(".")[0]
        return find_stream(self.spark, other if "." in other or not schema else f"{schema}.{other}")

    def _kept(self, query: BaseQuery, existing: StreamDefinition) -> StreamChange:
        wanted = altered(existing, self.config, query)
        changed = differences(existing, wanted)
        try:
            log = open_source(self.spark, self.name, existing.start)
        except StaleSource:  # its consumers may be far ahead: they go on, only the view cannot
            if changed:
                raise
            return StreamChange(KEEP, existing, None)
        self._check_same_table(query, log, existing.start)
        notes = self._start_notes(existing)
        if not changed:
            return self._view(KEEP, log, existing, notes)
        told = "; ".join(f"{key}: {old!r} -> {new!r}" for key, (old, new) in changed.items())
        if self.config.on_configuration_change == "fail":
            raise InvalidStreamConfig(
                f"stream {self.name} has changed ({told}) and on_configuration_change is 'fail'. Set it to 'apply' to "
                "keep the offset under the new configuration, or run with --full-refresh to start at now."
            )
        if self.config.on_configuration_change == "continue":
            return self._view(KEEP, log, existing, (*notes, f"stays as it was (on_configuration_change): {told}"))
        check_analysed(self.spark, query.text)
        return self._view(ALTER, log, wanted, (*notes, f"altered, offset kept: {told}"))

    def _check_same_table(self, query: BaseQuery, log: TableLog, start: Frontier) -> None:
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

    def _start_notes(self, existing: StreamDefinition) -> tuple[str, ...]:
        if self.config.start == NOW or str(self.config.start) == existing.start_point:
            return ()
        return (f"starts {existing.start_point} still; --full-refresh makes it start {self.config.start}",)

    def _view(self, action: str, log: TableLog, stream: StreamDefinition, notes: tuple[str, ...]) -> StreamChange:
        try:
            return StreamChange(action, stream, stream_view_sql(log, stream), notes)
        except StaleSource:  # the offset is in the log still, but the snapshot of that version is not
            if action == ALTER:
                raise
            return StreamChange(KEEP, stream, None, notes)
