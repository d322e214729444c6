"""A stream on columns and rows of one table, opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.changed_rows import changed_rows
from dbt.adapters.streamspark.changes.differentiate.local_rows import too_many
from dbt.adapters.streamspark.changes.ends import frontier_of
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.read import interval_shape
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.interval_read import Reading
from dbt.adapters.streamspark.streams.reading import read_stream, stream_view_sql
from dbt.adapters.streamspark.streams.source import open_source
from dbt.adapters.streamspark.streams.stored_query import mark


class OnTable:
    """Raises BrokenSource and StaleSource as `open_source` does."""

    def __init__(self, spark: SparkSession, name: str, stream: StreamDefinition, since: Frontier | None = None):
        self.spark = spark
        self.stream = stream
        self.log = open_source(spark, name, since or stream.start)

    @property
    def logs(self) -> Sequence[TableLog]:
        return [self.log]

    def frontier(self, versions: dict[str, int]) -> Frontier:
        return frontier_of(self.log, versions[self.log.path])

    def read(self, start: Frontier | None, end: Frontier, last: str | None = None) -> Reading:
        """A changed definition counts from the reader's own start on, whatever was read before."""
        since, until = None if start is None else start.tables[0].version, end.tables[0].version
        interval = Interval(self.log, since, until)
        query = replace(self.stream.base_query, table=mark(self.log.table_id)).text
        rows = changed_rows(interval.files)
        many = since is None or (rows is not None and too_many(rows))
        return Reading(interval_shape(interval, self.stream.mode), lambda: self._rows(since, until), query, many=many)

    def _rows(self, since: int | None, until: int) -> DataFrame:
        return read_stream(self.spark, self.log, self.stream, since, until).dataframe

    def view_sql(self) -> str:
        return stream_view_sql(self.log, self.stream)
