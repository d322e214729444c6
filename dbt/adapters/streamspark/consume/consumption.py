"""One planned consumption: which interval of which streams goes into which target under which number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from dbt.adapters.streamspark.changes.differentiate.keys import Column
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.consume import user_metadata
from dbt.adapters.streamspark.consume.costs import Begun
from dbt.adapters.streamspark.consume.made import Made
from dbt.adapters.streamspark.consume.merge import Merge
from dbt.adapters.streamspark.consume.replacement import Replacement
from dbt.adapters.streamspark.errors import InvalidInterval


def new_attempt() -> str:
    return uuid4().hex


@dataclass(frozen=True)
class StreamRead:
    """One stream's interval (start, end] as the model reads it.

    `start` None means the initial rows. `sql` is the fragment that stands for the interval in the model's SQL, a text
    found nowhere else in it. `within`, where it is known, is another: a predicate on the target `t` that holds for
    every row which the interval's rows change; they were computed then, `count` of them. `many`: there may be more of
    them than the driver holds. `known`: what is known of the key columns of the target in such rows. `is_empty` says
    that the interval holds no change. `query` is the stored text (streams/stored_query.py) that was read, with which a
    changed stream is told from the one before.
    """

    stream: str
    stream_id: str
    start: Frontier | None
    end: Frontier
    sql: str
    is_empty: bool = False
    query: str = ""
    within: str = ""
    count: int | None = None
    many: bool = False
    known: Mapping[str, Column] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """A cursor never goes back: rows consumed once would come again."""
        for table in self.end.tables if self.start is not None else ():
            since = self.start.get(table.table_id) if self.start is not None else None
            if since is not None and table.version < since:
                raise InvalidInterval(
                    f"stream {self.stream}: the interval of {table.name} would end at version {table.version}, "
                    f"before its start {since}. When the cursor is past the pinned version, end at the cursor."
                )

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.stream,
            "from": self.start.to_dict() if self.start is not None else None,
            "to": self.end.to_dict(),
            **_query(self.query),
        }


def _query(text: str) -> dict[str, str]:
    return {"query": text} if text else {}


@dataclass(frozen=True)
class Consumption:
    """A plan for one commit into `target`.

    `n` is the newest number stored for this consumer plus one. `kept` holds the cursors of streams that
    the model consumed earlier and does not read now, `kept_queries` the texts that were read of them. `rebuild`
    says that the statement makes the target anew from the streams' own starts (first run, full refresh). `seen` is
    the target's version at which the cursor was resolved (`Cursor.seen`), so that a RESTORE between plan and commit
    is noticed. `action` says what it is, where it is no run of the model (move.py, keep_alive.py).
    `begun`: for models that choose by what their runs cost. `made`: what a differential model's target is made from.
    `merge`: the one statement in its parts, where it is a MERGE of what the streams hold; `replacement`: what it is to
    leave in a target that is there, where it makes that anew.
    """

    consumer: str
    target: str
    n: int
    invocation: str
    reads: tuple[StreamRead, ...]
    kept: Mapping[str, Frontier] = field(default_factory=dict)
    attempt: str = field(default_factory=new_attempt)
    rebuild: bool = False
    seen: int | None = None
    kept_queries: Mapping[str, str] = field(default_factory=dict)
    action: str = ""
    begun: Begun | None = None
    made: Made | None = None
    merge: Merge | None = None
    replacement: Replacement | None = None

    @property
    def is_empty(self) -> bool:
        """No stream has a change."""
        return all(read.is_empty for read in self.reads)

    @property
    def is_kept(self) -> bool:
        """The rows were computed when they were planned: reading them again gives the same."""
        return bool(self.reads) and all(read.within for read in self.reads)

    @property
    def count(self) -> int | None:
        """How many rows the streams hold, where they were all computed."""
        counts = [read.count for read in self.reads]
        return None if None in counts or not counts else sum(count or 0 for count in counts)

    @property
    def many(self) -> bool:
        """Whether a stream may hold more rows than the driver does."""
        return any(read.many for read in self.reads)

    def starts(self) -> dict[str, Frontier | None]:
        return {read.stream_id: read.start for read in self.reads}

    def user_metadata(self) -> str:
        """The JSON text that goes into the commit (see user_metadata.py)."""
        streams: dict[str, Any] = {
            key: {
                "name": "",
                "from": frontier.to_dict(),
                "to": frontier.to_dict(),
                **_query(self.kept_queries.get(key, "")),
            }
            for key, frontier in self.kept.items()
        }
        streams |= {read.stream_id: read.to_dict() for read in self.reads}
        return user_metadata.write(
            {
                "consumer": self.consumer,
                "n": self.n,
                "attempt": self.attempt,
                "invocation": self.invocation,
                "seen": None if self.rebuild else self.seen,
                "streams": streams,
                **({"action": self.action} if self.action else {}),
                **({"begun": self.begun.to_dict()} if self.begun is not None else {}),
                **({"made": self.made.to_dict()} if self.made is not None else {}),
            }
        )
