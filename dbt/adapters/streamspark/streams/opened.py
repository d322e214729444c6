"""A stream with its base tables found, whatever it is on."""

from __future__ import annotations

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.interval_read import OpenStream
from dbt.adapters.streamspark.streams.on_query import OnQuery
from dbt.adapters.streamspark.streams.on_table import OnTable


def open_stream(
    spark: SparkSession,
    name: str,
    stream: StreamDefinition,
    since: Frontier | None = None,
    opened: ChangeQuery | None = None,
) -> OpenStream:
    """`since` is where a reader of it stands, if it has read it before; `opened` may be its query. Raises BrokenSource,
    StaleSource."""
    if stream.on_query:
        return OnQuery(spark, name, stream, since, opened)
    return OnTable(spark, name, stream, since)
