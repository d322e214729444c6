"""A stream's rows: as a DataFrame over one interval for consumers, as the text of the stream's view for everybody."""

from __future__ import annotations

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.projection import Projection, quoted
from dbt.adapters.streamspark.changes.read import ChangeSet, read_interval
from dbt.adapters.streamspark.changes.schemas import Schemas
from dbt.adapters.streamspark.changes.view_sql import view_sql
from dbt.adapters.streamspark.errors import BrokenSource
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.names import table_sql

INSERTS_ONLY = ("append_only", "insert_only")


def read_stream(spark: SparkSession, log: TableLog, stream: StreamDefinition, start: int | None, end: int) -> ChangeSet:
    """The stream's changes of (start, end], `start` None being the initial rows and what came after them.

    In a mode of inserts only, a row that was there when the stream was made counts even when it is gone by
    now: the initial rows are those of the stream's own start, and the inserts since follow.
    """
    if start is not None or stream.mode not in INSERTS_ONLY:
        return _read(spark, log, stream, start, end)
    made = stream.base_table.version
    first, later = _read(spark, log, stream, None, made), _read(spark, log, stream, made, end)
    _check_columns(stream, first.dataframe.columns, later.dataframe.columns)
    both = first.dataframe.unionByName(later.dataframe, allowMissingColumns=True)
    return ChangeSet(both.select(*(quoted(name) for name in later.dataframe.columns)), first.shape)


def _check_columns(stream: StreamDefinition, before: list[str], now: list[str]) -> None:
    gone = sorted(set(before) - set(now))
    if gone:
        raise BrokenSource(
            f"table {stream.base_table.name}: columns {', '.join(gone)} were renamed or dropped since the stream was "
            "made, so its initial rows cannot be given in today's columns. Make the stream again with --full-refresh."
        )


def _read(spark: SparkSession, log: TableLog, stream: StreamDefinition, start: int | None, end: int) -> ChangeSet:
    return read_interval(
        spark,
        log,
        start,
        end,
        mode=stream.mode,
        projection=projection(log, stream, end),
        unique_key=stream.unique_key,
        metadata_columns=stream.metadata_columns,
    )


def projection(log: TableLog, stream: StreamDefinition, version: int) -> Projection:
    """What the stream takes of the columns that the table has at `version`."""
    return stream.base_query.projection(Schemas(log, version, changed=False).columns)


def stream_view_sql(log: TableLog, stream: StreamDefinition) -> str:
    """The SELECT of the stream's pending changes, from its start to now: the text of its view."""
    made = stream.base_table.version
    if not stream.show_initial_rows:
        return _view(log, stream, table_sql(log.name), made)
    if stream.mode not in INSERTS_ONLY:
        return _view(log, stream, table_sql(log.name), None)
    return f"{_view(log, stream, _as_of(log, made), None)} union all {_view(log, stream, table_sql(log.name), made)}"


def _as_of(log: TableLog, version: int) -> str:
    """The table at `version` in the columns that it has now."""
    columns = ", ".join(Interval(log, version, log.version).schemas.columns_at(version))
    return f"(select {columns}, _metadata from {table_sql(log.name)} version as of {version})"


def _view(log: TableLog, stream: StreamDefinition, table: str, start: int | None) -> str:
    return view_sql(
        log,
        table,
        start,
        mode=stream.mode,
        projection=projection(log, stream, log.version),
        unique_key=stream.unique_key,
        metadata_columns=stream.metadata_columns,
    )
