"""Where the consumers of a table stand, told by the table itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.cursor import Cursor, resolve_cursor
from dbt.adapters.streamspark.errors import OffsetUnknown
from dbt.adapters.streamspark.streams.consumers import PREFIX


@dataclass(frozen=True)
class ConsumerState:
    """`name` is the consumer's in the log of its `target`; without a `cursor` there is a `problem`."""

    name: str
    target: str
    cursor: Cursor | None
    problem: str = ""

    @property
    def has_consumed(self) -> bool:
        return self.cursor is not None and (self.cursor.n > 0 or bool(self.cursor.frontiers))

    @property
    def model(self) -> str:
        """The unique id of the consumer's model."""
        return self.name.removeprefix(PREFIX)

    @property
    def committed_at(self) -> datetime | None:
        return None if self.cursor is None else self.cursor.timestamp

    def point(self, stream_id: str) -> Frontier | None:
        """Up to where it has read a stream, None where it has not."""
        return None if self.cursor is None else self.cursor.frontiers.get(stream_id)

    def error(self) -> OffsetUnknown:
        return OffsetUnknown(self.problem)


def consumer_state(log: TableLog, name: str) -> ConsumerState:
    try:
        return ConsumerState(name, log.name, resolve_cursor(log, name))
    except OffsetUnknown as error:
        return ConsumerState(name, log.name, None, str(error))
