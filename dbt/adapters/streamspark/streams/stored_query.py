"""A query's text that outlives the names of its tables: each base table is written as its id, views are expanded."""

from __future__ import annotations

import re
from dataclasses import replace

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.ends import resolve_end
from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import BrokenSource, InvalidInterval, StaleSource
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.names import table_sql
from dbt.adapters.streamspark.streams.query_text import tokenize
from dbt.adapters.streamspark.streams.source import is_same_table, open_table

_MARK = re.compile(r"`?\{table:([^}`]+)\}`?")


def mark(table_id: str) -> str:
    """What stands for a table in a stored text."""
    return f"{{table:{table_id}}}"


def stored(query: ChangeQuery) -> str:
    """The text to keep: it is read again with a frontier that holds the same ids."""
    return query.written(lambda log: mark(log.table_id))


def text_of(stream: StreamDefinition) -> str:
    """The stored text of a stream, also of one on a table."""
    if stream.on_query:
        return stream.query
    return replace(stream.base_query, table=mark(stream.base_table.table_id)).text


def named(query: ChangeQuery) -> str:
    """The text with the names that the tables have now."""
    return query.written(lambda log: table_sql(log.name))


def normal(query: ChangeQuery) -> str:
    """Equal for texts that differ in white space, comments and the names of tables alone."""
    text = query.written(lambda log: f"`{log.path}`")
    return " ".join(text[token.start : token.end + 1] for token in tokenize(text))


def reopened(
    spark: SparkSession,
    stream: str,
    text: str,
    since: Frontier,
    newer: Frontier | None = None,
    opened: ChangeQuery | None = None,
) -> ChangeQuery:
    """The query of a stored text whose ids `since` holds. `newer`, if any, is a later point: its versions are more
    likely to be in the tables' logs still. `opened`, if any, is a query that may be the same: parsing takes a while.

    Raises BrokenSource and StaleSource as `open_table` does.
    """
    if opened is not None and stored(opened) == text and _goes_on(opened, newer or since):
        return opened
    names = {table.table_id: _name(spark, stream, table, since, newer) for table in since.tables}
    return ChangeQuery(spark, _MARK.sub(lambda found: names[_known(stream, found[1], names)], text))


def _goes_on(query: ChangeQuery, since: Frontier) -> bool:
    """Whether its tables are those that `since` is a point of."""
    entries = ((log, since.entry(log.table_id, log.name)) for log in query.logs)
    return all(entry is not None and is_same_table(log, entry) for log, entry in entries)


def _name(spark: SparkSession, stream: str, table: TableVersion, since: Frontier, newer: Frontier | None) -> str:
    if newer is not None and table.table_id in newer:
        return table_sql(open_table(spark, stream, newer.table(table.table_id), newer.timestamp).name)
    try:
        return table_sql(open_table(spark, stream, table, since.timestamp).name)
    except StaleSource:
        if newer is None or not _replaced(spark, stream, table, newer):
            raise
        return table_sql(table.name)


def _replaced(spark: SparkSession, stream: str, table: TableVersion, newer: Frontier) -> bool:
    """Whether it was made again by CREATE OR REPLACE, which gives it another id, and read up to `newer` since. A point
    in another table, which had the name before and has another one now, tells nothing of this one."""
    entry = newer.entry(table.table_id, table.name)
    return entry is not None and open_table(spark, stream, entry, newer.timestamp).name == table.name


def _known(stream: str, table_id: str, names: dict[str, str]) -> str:
    if table_id not in names:
        raise BrokenSource(
            f"stream {stream}: its query reads a table with id {table_id}, of which no version is known. Make the "
            "stream again with --full-refresh."
        )
    return table_id


def version_in(log: TableLog, point: Frontier | None) -> int | None:
    """The version that `point` holds of the table in `log`, None when it holds none."""
    if point is None:
        return None
    try:
        return resolve_end([log], point).tables[0].version
    except InvalidInterval:
        return None
