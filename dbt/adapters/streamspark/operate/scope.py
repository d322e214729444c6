"""The streams and consumers that an operation can see: those in the project's schemas, or in all of the catalog."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.catalog_table import catalog_table, is_view
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.cursor import Cursor
from dbt.adapters.streamspark.consume.target import open_target
from dbt.adapters.streamspark.errors import BrokenSource, MissingSource, StreamsparkError, UnknownName
from dbt.adapters.streamspark.near import near
from dbt.adapters.streamspark.operate.consumer_state import ConsumerState, consumer_state
from dbt.adapters.streamspark.operate.project import Project, ProjectModel
from dbt.adapters.streamspark.streams.catalog import properties
from dbt.adapters.streamspark.streams.consumers import CONSUMING, consumer_names
from dbt.adapters.streamspark.streams.definition import StreamDefinition, from_properties
from dbt.adapters.streamspark.streams.names import name_parts, table_name

IS_STREAM = re.compile(r"^Table Properties: \[(.*, )?streamspark\.kind=stream[,\]]", re.MULTILINE)
IS_DELTA = re.compile(r"^Provider: delta$", re.MULTILINE | re.IGNORECASE)
WRITES = (*CONSUMING, "changes")


@dataclass(frozen=True)
class StreamEntry:
    """A stream in the catalog; without a `definition` there is a `problem` with it."""

    name: str
    definition: StreamDefinition | None
    problem: str = ""

    @property
    def stream(self) -> StreamDefinition:
        """Raises BrokenSource where it is damaged."""
        if self.definition is None:
            raise BrokenSource(self.problem)
        return self.definition


@dataclass(frozen=True)
class Scope:
    """`everywhere`: all schemas of the catalog. `schema`: only this one."""

    spark: SparkSession = field(repr=False)
    project: Project
    schema: str | None = None
    everywhere: bool = False

    @cached_property
    def schemas(self) -> list[str]:
        """Raises UnknownName where the one asked for does not exist."""
        known = [row[0] for row in self.spark.sql("show databases").collect()]
        if self.everywhere:
            return known
        if self.schema is not None and self.schema.lower() not in known:
            raise UnknownName(f"schema {self.schema} does not exist.{near(self.schema, known)}")
        wanted = [self.schema] if self.schema is not None else self.project.schemas
        return [name for name in wanted if name.replace("`", "").lower() in known]

    @cached_property
    def _listed(self) -> list[tuple[str, str]]:
        """(name, what the catalog says of it) of each table and view."""
        rows = (row for schema in self.schemas for row in self._list(schema))
        return [(table_name([row["namespace"], row["tableName"]]), row["information"]) for row in rows]

    def _list(self, schema: str) -> list[dict[str, str]]:
        rows = self.spark.sql(f"show table extended in {table_name([schema.replace('`', '')])} like '*'").collect()
        return [row.asDict() for row in rows if row["namespace"] and not row["isTemporary"]]

    @cached_property
    def streams(self) -> list[StreamEntry]:
        return [stream_entry(self.spark, name) for name, about in self._listed if IS_STREAM.search(about)]

    @cached_property
    def consumers(self) -> list[ConsumerState]:
        """What the tables in scope say that they have consumed, and the project's models that are to."""
        tables = [name for name, about in self._listed if IS_DELTA.search(about)]
        return [state for name in tables for state in self._states(name)]

    def _states(self, table: str) -> list[ConsumerState]:
        """One table that cannot be read must not hide the others: it is a consumer with a problem, by what is known."""
        try:
            return self.consumers_in(table)
        except MissingSource:  # its files are gone, and with them whatever it had consumed
            return []
        except StreamsparkError as error:
            return [ConsumerState(self._meant(table), table, None, str(error))]

    def _meant(self, table: str) -> str:
        """The name of the consumer that the project has for a table; empty where it has none."""
        model = self.project.stored_as(table)
        return model.consumer if model is not None and model.materialized in WRITES else ""

    def consumers_in(self, table: str) -> list[ConsumerState]:
        """The consumers that have written into a Delta table. A clone's are those of the table that it was cloned
        from, whose models' names only the project tells."""
        log = open_target(self.spark, table)
        if log is None:
            return []
        names = dict.fromkeys([*consumer_names(log), self._meant(table)])
        states = [consumer_state(log, name) for name in names if name]
        return [state for state in states if state.has_consumed or state.problem]

    def stream(self, name: str) -> StreamEntry:
        """The stream called `name`: a model's, or the catalog's. Raises UnknownName, BrokenSource."""
        full = self.full_name(name)
        found = properties(self.spark, full)
        if found is None:
            raise UnknownName(f"there is no stream {full}.{near(name, self._short(one.name for one in self.streams))}")
        definition = from_properties(found, full)
        if definition is None:
            known = self._short(one.name for one in self.streams)
            raise UnknownName(f"{full} is no stream. Streams: {', '.join(known) or 'none'}.{near(name, known)}")
        return StreamEntry(full, definition)

    def table(self, name: str) -> TableLog:
        """The Delta table called `name`. Raises UnknownName where there is none."""
        full = self.full_name(name)
        found = catalog_table(self.spark, name_parts(full))
        view = found is not None and is_view(found)
        if view or properties(self.spark, full) is None:
            known = self._short(one for one, about in self._listed if IS_DELTA.search(about))
            raise UnknownName(f"{f'{full} is a view' if view else f'there is no table {full}'}.{near(name, known)}")
        return TableLog(self.spark, full)

    def consumer(self, name: str) -> tuple[TableLog, ConsumerState]:
        """The consumer whose model or table is called `name`, which knows its offset. Raises UnknownName where nothing
        was consumed into it, OffsetUnknown."""
        log, state = self.any_consumer(name)
        if state.cursor is None:
            raise state.error()
        return log, state

    def any_consumer(self, name: str) -> tuple[TableLog, ConsumerState]:
        """The same, or one that does not know its offset. Raises UnknownName."""
        log = self.table(name)
        states = self.consumers_in(log.name)
        if not states:
            known = self._short(dict.fromkeys(state.target for state in self.consumers))
            there = ", ".join(known) or "none"
            raise UnknownName(f"table {log.name} has consumed nothing yet. Consumers: {there}.{near(name, known)}")
        return log, max(states, key=lambda state: (state.cursor.version or 0) if state.cursor else -1)

    def reader(self, name: str) -> ConsumerState:
        """The same, or a model of the project that reads streams and has consumed nothing yet."""
        model = self.project.named(name)
        if model is not None and self.read_by(model) and not self.consumers_in(model.relation):
            return ConsumerState(model.consumer, model.relation, Cursor(0))
        return self.consumer(name)[1]

    def read_by(self, model: ProjectModel) -> list[StreamEntry]:
        """The streams that a model of the project reads."""
        return [one for one in self.streams if model in self.project.readers(one.name)]

    def readers(self, entry: StreamEntry) -> list[ConsumerState]:
        """The consumers of a stream: those with an offset in it, and by the project those that are to read it."""
        key = entry.definition.id if entry.definition else ""
        meant = {model.consumer for model in self.project.readers(entry.name)}
        return [one for one in self.consumers if one.point(key) is not None or one.name in meant]

    def full_name(self, name: str) -> str:
        """What a model's or a table's name means."""
        model = self.project.named(str(name))
        if model is not None:
            return model.relation
        return str(name) if "." in str(name) else table_name([self.project.schema, str(name).strip("`")])

    def _short(self, names: Iterable[str]) -> list[str]:
        """Without the profile's schema."""
        start = f"{self.project.schema}.".lower()
        return [name[len(start) :] if name.lower().startswith(start) else name for name in names]


def stream_entry(spark: SparkSession, name: str) -> StreamEntry:
    """One that is damaged is listed with its error."""
    try:
        return StreamEntry(name, from_properties(properties(spark, name) or {}, name))
    except StreamsparkError as error:
        return StreamEntry(name, None, str(error))
