"""Who needs the changes of which base table, and since when: what nothing may take away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.changes_model import OWN
from dbt.adapters.streamspark.errors import OffsetUnknown, StreamsparkError
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.streams.source import open_table


@dataclass(frozen=True)
class Hold:
    """`holder` (a target, or a stream that nothing has read) needs the changes of a table since a version."""

    holder: str
    table: TableVersion
    log: TableLog


def holds(scope: Scope) -> tuple[list[Hold], list[str]]:
    """What is needed in all of the catalog, and why some of it cannot be had any more.

    Raises OffsetUnknown where a consumer does not know its offset: then nobody knows what it needs.
    """
    held, lost = list[Hold](), list[str]()
    for holder, point in _points(Scope(scope.spark, scope.project, everywhere=True)):
        for table in point.tables:
            try:
                held.append(Hold(holder, table, open_table(scope.spark, holder, table, point.timestamp)))
            except StreamsparkError as error:  # nothing that is still there can help it
                lost.append(str(error))
    return held, lost


def _points(scope: Scope) -> Iterator[tuple[str, Frontier]]:
    """Every cursor, and the start of each stream that something is yet to read from there. A consumer keeps its offset
    in a stream that was dropped or made anew since; nothing can read on from that one."""
    known = {OWN, *(entry.definition.id for entry in scope.streams if entry.definition)}
    for state in scope.consumers:
        if state.cursor is None:
            raise OffsetUnknown(f"nobody knows what is needed: {state.problem}")
        yield from ((state.target, point) for key, point in state.cursor.frontiers.items() if key in known)
    for entry in scope.streams:
        if entry.definition is None:
            continue
        readers, key = scope.readers(entry), entry.definition.id
        if not readers or any(state.point(key) is None for state in readers):
            yield entry.name, entry.definition.start
