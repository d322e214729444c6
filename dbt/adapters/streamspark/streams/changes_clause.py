"""`{{ changes(…) }}`: the changes of a query between two points in the past, as a relation for FROM."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.changes import read_changes
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.temp_view import temp_view
from dbt.adapters.streamspark.errors import InvalidInterval, InvalidQuery
from dbt.adapters.streamspark.literals import in_comment
from dbt.adapters.streamspark.streams.definition import StreamDefinition

Now = Callable[[ChangeQuery], Frontier]
Lookup = Callable[[str], StreamDefinition]
REFUSED = {
    "view": "a persistent view is read by sessions that cannot compute changes",
    "ephemeral": "an ephemeral model may be a part of a view, whose readers cannot compute changes",
    "stream": "changes have no history of their own to follow",
    "changes": "changes have no history of their own to follow",
}


@dataclass(frozen=True)
class ChangesClause:
    """The arguments of the macro. `sql` is a query, or the name of a table or view."""

    sql: str
    start: Any
    end: Any = None
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def relation(self) -> str:
        """The SQL that stands for it, once `register` has run."""
        text = repr((self.sql, self.start, self.end, sorted(self.options.items())))
        return f"(select * from {quoted(self._name(text))} /* {in_comment(self.note)} */)"

    @staticmethod
    def _name(text: str) -> str:
        return f"streamspark_changes__{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    @property
    def note(self) -> str:
        end = "now" if self.end is None else self.end
        return f"changes from {self.start} to {end} of {' '.join(self.sql.split())}"

    def register(self, spark: SparkSession, now: Now, lookup: Lookup) -> None:
        """Make the temporary view that `relation` reads. `now` gives the newest versions that this run reads.

        Raises InvalidQuery, UnsupportedQuery, InvalidInterval, InvalidStreamConfig, StaleSource, BrokenSource.
        """
        if self.start is None:
            raise InvalidInterval(f"{self.note}: a start is needed: a version, a timestamp, a stream or a frontier")
        query = ChangeQuery(spark, self.sql)
        start = _frontier(query, self.start, lookup)
        end = now(query) if self.end is None else _frontier(query, self.end, lookup)
        frame = read_changes(query.interval(start, end), **self.options)
        temp_view(frame, self.relation.split("`")[1])


def check_allowed(model: Mapping[str, Any]) -> None:
    """Raises InvalidQuery in a model whose SQL is not run by this adapter each time that it is read."""
    kind = model["config"].get("materialized")
    if model["resource_type"] == "model" and kind in REFUSED:
        raise InvalidQuery(
            f"{model['unique_id']} is materialized as {kind} and cannot ask for changes(): {REFUSED[kind]}. Use "
            "materialized='table' or 'incremental'."
        )


def _frontier(query: ChangeQuery, point: Any, lookup: Lookup) -> Frontier:
    """A stream's start counts where it is on all of the query's tables, and its time otherwise."""
    if not isinstance(point, Mapping) or set(point) != {"stream"}:
        return query.frontier(point)
    start = lookup(str(point["stream"])).start
    try:
        return query.frontier(start)
    except InvalidInterval:
        return query.frontier(start.timestamp)
