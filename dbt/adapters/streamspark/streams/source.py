"""The base table of a stream, found again: under its name, or under another one after a rename."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import BrokenSource, MissingSource, StaleSource
from dbt.adapters.streamspark.spark_errors import as_sql_error
from dbt.adapters.streamspark.streams.names import table_sql
from dbt.adapters.streamspark.streams.tables_in import tables_in


def open_source(spark: SparkSession, stream: str, since: Frontier) -> TableLog:
    """The log of the one table that `since`, an offset of `stream`, is an offset in."""
    return open_table(spark, stream, since.tables[0], since.timestamp)


def open_table(spark: SparkSession, stream: str, table: TableVersion, moment: datetime) -> TableLog:
    """The log of the table that `stream` has read up to a version, at `moment`; its name is the one it has now.

    Raises BrokenSource when the table is gone, may not be read, or another one took its name, StaleSource when the
    log is cleaned past the offset, and Spark's own errors as SqlError.
    """
    log = _open(spark, table.name)
    if log is not None and is_same_table(log, table):
        return log
    renamed = _renamed(spark, table)
    if renamed is None:
        raise _broken(stream, table, moment, log)
    return renamed


def _renamed(spark: SparkSession, table: TableVersion) -> TableLog | None:
    """The table under the name that it has now. One that may not be read may be it: then that is the error."""
    refused: BrokenSource | None = None
    for name in _neighbours(spark, table.name):
        try:
            other = _open(spark, name)
            if other is not None and is_same_table(other, table):
                return other
        except BrokenSource as error:
            refused = error
    if refused is not None:
        raise refused
    return None


def is_same_table(log: TableLog, table: TableVersion) -> bool:
    """Whether the commit that made the offset's version is in this log. Raises StaleSource when the log of what
    may be the table is cleaned past it."""
    if log.version < table.version:
        return False
    try:
        return log.commit(table.version).identity == table.commit
    except StaleSource:
        if log.table_id == table.table_id or log.earliest_version() > table.version:
            raise
        return False


def _open(spark: SparkSession, name: str) -> TableLog | None:
    try:
        return TableLog(spark, name)
    except MissingSource:  # no such table, or none of Delta's any more
        return None
    except (PySparkException, Py4JError) as error:
        raise as_sql_error(error) from error


def _neighbours(spark: SparkSession, name: str) -> Iterator[str]:
    """The other Delta tables of the schema that `name` is in."""
    schema, _, own = name.rpartition(".")
    if "`" in name and name.startswith("delta."):
        return
    database = schema or spark.catalog.currentDatabase()
    if not spark.catalog.databaseExists(database):
        return
    for other in tables_in(spark, database):
        if other.rpartition(".")[2].lower() != own.strip("`").lower() and _is_delta(spark, other):
            yield other


def _is_delta(spark: SparkSession, name: str) -> bool:
    rows = spark.sql(f"describe extended {table_sql(name)}").collect()
    return any(row["col_name"] == "Provider" and str(row["data_type"]).lower() == "delta" for row in rows)


def _broken(stream: str, table: TableVersion, moment: datetime, found: TableLog | None) -> BrokenSource:
    when = f"{moment:%Y-%m-%d %H:%M:%S} UTC"
    if found is None:
        what = f"table {table.name} does not exist any more (or is no Delta table)"
    else:
        what = f"table {table.name} was dropped and made again, and is another table now"
    return BrokenSource(
        f"stream {stream}: {what}, so the changes since version {table.version} ({when}) are lost. Make the stream "
        f"and its consumers again with --full-refresh: dbt run --full-refresh --select {stream.split('.')[-1]}+"
    )
