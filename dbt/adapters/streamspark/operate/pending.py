"""What a consumer of a stream has not read yet: the interval from its offset to now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.file_changes import EMPTY
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.changes_model import MODES, OWN
from dbt.adapters.streamspark.consume.consumption import Consumption, StreamRead
from dbt.adapters.streamspark.consume.planner import version_before
from dbt.adapters.streamspark.errors import UnknownName
from dbt.adapters.streamspark.operate.consumer_state import ConsumerState
from dbt.adapters.streamspark.operate.scope import Scope, StreamEntry
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.interval_read import OpenStream, Reading
from dbt.adapters.streamspark.streams.opened import open_stream

START = "(the stream's start)"


@dataclass(frozen=True)
class Pending:
    """`start` None stands for the initial rows, `state` None for somebody who never read the stream."""

    name: str
    stream: StreamDefinition
    state: ConsumerState | None
    start: Frontier | None
    end: Frontier
    reading: Reading
    opened: OpenStream

    @property
    def target(self) -> str:
        return START if self.state is None else self.state.target

    @property
    def has_data(self) -> bool:
        return self.reading.shape != EMPTY

    def since(self, log: TableLog) -> int | None:
        """The version of a base table up to which was read."""
        point = self.start or self.stream.start
        entry = point.entry(log.table_id, log.name)
        return None if entry is None else entry.version

    def shown(self) -> dict[str, Any]:
        tables = self.end.tables
        return {
            "stream": self.name,
            "target": self.target,
            "base_tables": [table.name for table in tables],
            "from_versions": None if self.start is None else [version_before(self.start, table) for table in tables],
            "to_versions": [table.version for table in tables],
            "from_time": None if self.start is None else self.start.timestamp,
            "to_time": self.end.timestamp,
            "shape": self.reading.shape,
        }


def pending(spark: SparkSession, name: str, stream: StreamDefinition, state: ConsumerState | None) -> Pending:
    """For `state`, or for a new consumer. Raises StaleSource, BrokenSource, and the state's OffsetUnknown."""
    if state is not None and state.cursor is None:
        raise state.error()
    point = None if state is None else state.point(stream.id)
    start = point or (None if stream.show_initial_rows else stream.start)
    opened = open_stream(spark, name, stream, start)
    end = opened.frontier({log.path: log.version for log in opened.logs})
    last = None if state is None or state.cursor is None else state.cursor.queries.get(stream.id)
    return Pending(name, stream, state, start, end, opened.read(start, end, last), opened)


def pending_of_stream(scope: Scope, entry: StreamEntry, consumer: str | None) -> list[Pending]:
    """For each of a stream's consumers, or the one whose model or table is called `consumer`; for its start where it
    has none. Raises UnknownName where the one named does not read it."""
    stream = entry.stream
    readers: Sequence[ConsumerState | None] = scope.readers(entry)
    if consumer is not None:
        target = scope.table(consumer).name
        named = [state for state in readers if state is not None and state.target.lower() == target.lower()]
        if not named:
            raise UnknownName(f"{target} has read nothing of {entry.name}. Its consumers: {_targets(readers)}.")
        readers = named
    return [pending(scope.spark, entry.name, stream, state) for state in readers or [None]]


def pending_of_consumer(scope: Scope, name: str) -> list[Pending]:
    """For each stream that a consumer reads, by the project or by what it has read, and for the query of a changes or
    differential model. Raises UnknownName."""
    state = scope.reader(name)
    model = scope.project.stored_as(state.target)
    meant = scope.read_by(model) if model else []
    entries = [one for one in scope.streams if one in meant or (one.definition and state.point(one.definition.id))]
    own = [own_stream(state, model.format if model else "")] if state.point(OWN) else []
    return [pending(scope.spark, one.name, one.stream, state) for one in [*entries, *own]]


def own_stream(state: ConsumerState, format: str) -> StreamEntry:
    """The query of a changes or differential model, as a stream that it alone reads."""
    assert state.cursor is not None
    query, start = state.cursor.queries[OWN], state.cursor.frontiers[OWN]
    mode = MODES.get(format, format) or "standard"
    return StreamEntry(state.target, StreamDefinition(query, start, mode=mode, id=OWN, on_query=True))


def consumption_of(pending: Pending, invocation: str) -> Consumption:
    """The consumption that moves the offset to the interval's end, other streams' offsets kept. Its rows stand nowhere:
    only a statement that writes none may commit it."""
    state, key = pending.state, pending.stream.id
    if state is None or state.cursor is None:
        raise UnknownName(f"nothing has consumed stream {pending.name} yet")
    read = StreamRead(pending.name, key, pending.start, pending.end, "", not pending.has_data, pending.reading.query)
    others = {one: point for one, point in state.cursor.frontiers.items() if one != key}
    queries = {one: text for one, text in state.cursor.queries.items() if one != key}
    return Consumption(
        consumer=state.name,
        target=state.target,
        n=state.cursor.n + 1,
        invocation=invocation,
        reads=(read,),
        kept=others,
        kept_queries=queries,
        seen=state.cursor.seen,
    )


def _targets(states: Sequence[ConsumerState | None]) -> str:
    return ", ".join(state.target for state in states if state is not None) or "none"
