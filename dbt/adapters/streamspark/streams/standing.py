"""The base tables of a stream as they stand now, where their logs no longer tell that it was made on them."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.ends import all_together, frontier_of
from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import BrokenSource
from dbt.adapters.streamspark.streams.definition import StreamDefinition


def standing(spark: SparkSession, name: str, stream: StreamDefinition) -> StreamDefinition:
    """The stream with its tables' newest versions as its start. Raises BrokenSource where a table is gone, or is
    another one by its id."""
    return replace(stream, start=_now(spark, name, stream.start))


def _now(spark: SparkSession, name: str, start: Frontier) -> Frontier:
    return all_together([_newest(spark, name, table) for table in start.tables])


def _newest(spark: SparkSession, name: str, table: TableVersion) -> Frontier:
    log = TableLog(spark, table.name)
    if log.table_id != table.table_id:
        raise BrokenSource(
            f"stream {name}: table {table.name} is another one by its id than when the stream was made, and its log no "
            "longer tells how it came to be. Make the stream and what reads it anew with --full-refresh."
        )
    return frontier_of(log, log.version)
