"""The offset of a stream that goes stale first: its slowest consumer's, or its start while nothing has read it."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.operate.consumer_state import ConsumerState
from dbt.adapters.streamspark.operate.scope import Scope, StreamEntry
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.freshness import Freshness, freshness


@dataclass(frozen=True)
class Offset:
    """`consumers` are all that read the stream; `freshness` is that of `point`."""

    point: Frontier
    consumers: list[ConsumerState]
    freshness: Freshness


def oldest_offset(scope: Scope, entry: StreamEntry) -> Offset:
    """Of a stream that has a definition."""
    stream = entry.stream
    consumers = scope.readers(entry)
    point = oldest(stream, consumers)
    return Offset(point, consumers, freshness(scope.spark, entry.name, point, stream.mode))


def oldest(stream: StreamDefinition, consumers: list[ConsumerState]) -> Frontier:
    """By the sum of its versions: all consumers of a stream read the same tables."""
    points = [one.point(stream.id) or stream.start for one in consumers if one.cursor is not None]
    return min(points, key=lambda point: sum(table.version for table in point.tables), default=stream.start)
