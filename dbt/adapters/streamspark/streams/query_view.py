"""The text of the view of a stream on a query: two snapshots compared, in plain SQL for any session.

Coarser than the stream: inserts and deletes only, told apart by their values, with ids of their own and no commit.
"""

from __future__ import annotations

from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.differentiate.copies import bag_difference, numbered
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.query.expanded import parse_query
from dbt.adapters.streamspark.changes.query.volatile import tells_time
from dbt.adapters.streamspark.literals import literal
from dbt.adapters.streamspark.streams.bag_rows import bag_rows
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.names import table_sql
from dbt.adapters.streamspark.streams.stored_query import named


class _Untimed:
    """No commit made the rows, so they have no time."""

    def sql(self, version: str) -> str:
        return "cast(null as timestamp)"


def query_view_sql(query: ChangeQuery, stream: StreamDefinition) -> str:
    """The pending changes from the stream's start to now, in the stream's columns. Where plain SQL cannot tell them,
    reading the view raises an error that says how to read the stream instead."""
    now = f"({named(query)}\n)"
    schema = query.spark.sql(f"select * from {now}").schema
    metadata = DIALECTS[stream.metadata_columns].select(_Untimed())
    rows = bag_rows(schema.names, f"({_source(query, stream, schema, now)})")
    return f"select {', '.join(['__data.*', *metadata])} from ({rows})"


def _source(query: ChangeQuery, stream: StreamDefinition, schema: StructType, now: str) -> str:
    names, types = [quoted(name) for name in schema.names], [field.dataType for field in schema.fields]
    trouble = _trouble(query, stream)
    if trouble:
        return f"select *, '' as __id, 1 as __sign from {now} where (select raise_error({literal(trouble)})) is null"
    if stream.show_initial_rows:
        return f"select *, 1 as __sign from ({numbered(names, types, now)})"
    made = query.frontier(stream.start)
    then = f"({query.written(lambda log: _as_of(log, made[log.table_id]))}\n)"
    return f"select * from {bag_difference(names, types, then, now).sql}"


def _trouble(query: ChangeQuery, stream: StreamDefinition) -> str:
    advice = "Read the stream with {{ stream('...') }}, for example in dbt show."
    if stream.mode == "append_only":
        return f"two snapshots of a query do not tell which rows were inserted in between. {advice}"
    if tells_time(parse_query(query.text)):
        return f"the stream's query tells the time, which plain SQL cannot set back to the stream's start. {advice}"
    return ""


def _as_of(log: TableLog, version: int) -> str:
    """The table at `version` in the columns that it has now."""
    columns = ", ".join(Interval(log, version, log.version).schemas.columns_at(version))
    return f"(select {columns} from {table_sql(log.name)} version as of {version})"
