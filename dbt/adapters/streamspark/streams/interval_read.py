"""What a stream says of one interval: its plan shape at once, its rows when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.change_query import QueryInterval
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import TableLog


@dataclass(frozen=True)
class Reading:
    """`query` is the stored text that was read, for the cursor. `before`: the rows lead from those of this other text,
    which was read last, to those of `query`. `interval`: what is read, where it is one query's. `many`: more rows than
    the driver holds are taken to have changed."""

    shape: str
    rows: Callable[[], DataFrame]
    query: str
    before: str = ""
    interval: QueryInterval | None = None
    many: bool = False


class OpenStream(Protocol):
    """A stream with its base tables found."""

    @property
    def logs(self) -> Sequence[TableLog]: ...

    def frontier(self, versions: dict[str, int]) -> Frontier:
        """The point at these versions, which are by the tables' paths."""
        ...

    def read(self, start: Frontier | None, end: Frontier, last: str | None = None) -> Reading:
        """The changes of (start, end]; `last` is the text that the reader read up to `start`."""
        ...

    def view_sql(self) -> str:
        """The text of the stream's view."""
        ...
