"""What a failed write means: another run was there first, or the source's files are gone or may not be read."""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.denied import denied, unlistable
from dbt.adapters.streamspark.changes.frontier import TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.missing_files import DATA_FILE, MISSING
from dbt.adapters.streamspark.changes.plain_path import lies_in
from dbt.adapters.streamspark.consume.consumption import Consumption, StreamRead
from dbt.adapters.streamspark.consume.target import open_target
from dbt.adapters.streamspark.errors import BrokenSource, MissingSource, StaleSource, StreamsparkError
from dbt.adapters.streamspark.spark_errors import denial, is_conflict

GONE = (*MISSING, "BEYOND_DELETED_FILE_RETENTION_DURATION")


def was_first(error: Exception) -> bool:
    """Another run's commit came in between, or made the table; the same statement on a new plan may pass."""
    made = isinstance(error, PySparkException) and error.getCondition() == "TABLE_OR_VIEW_ALREADY_EXISTS"
    return made or is_conflict(error)


def source_failure(spark: SparkSession, error: Exception, consumption: Consumption) -> StreamsparkError | None:
    """The error to raise when `error` says that a data file of a source is missing (StaleSource) or may not be
    read (BrokenSource), else None."""
    text = str(error)
    if denial(error) is None and not any(mark in text for mark in GONE):
        return None
    match = DATA_FILE.search(text)
    try:
        return _of_file(spark, error, consumption, match.group() if match else "")
    except BrokenSource as source_denied:
        return source_denied


def _of_file(spark: SparkSession, error: Exception, consumption: Consumption, file: str) -> StreamsparkError | None:
    tables = [(read, table) for read in consumption.reads for table in read.end.tables]
    owners = [(read, table) for read, table in tables if _holds(_source_path(spark, table), file)]
    said = denial(error) or unlistable(spark, file.rpartition("/")[0] or "/")
    if said is not None:  # also of what is no file of a source, such as the target's directory
        return denied(owners[0][1].name, f"the file {file}", said) if owners else None
    if not owners and _is_target(spark, consumption, file):
        return None
    return StaleSource(" ".join(_message(read, table, file) for read, table in owners or tables))


def _holds(path: str | None, file: str) -> bool:
    return path is not None and lies_in(path, file)


def _source_path(spark: SparkSession, table: TableVersion) -> str | None:
    try:
        return TableLog(spark, table.name).path
    except MissingSource:  # gone as a whole; the message names it all the same
        return None


def _is_target(spark: SparkSession, consumption: Consumption, file: str) -> bool:
    log = open_target(spark, consumption.target)
    return log is not None and _holds(log.path, file)


def _message(read: StreamRead, table: TableVersion, file: str) -> str:
    since = "its beginning"
    if read.start is not None and table.table_id in read.start:
        since = f"version {read.start[table.table_id]} ({read.start.timestamp:%Y-%m-%d %H:%M:%S} UTC)"
    gone = f" ({file})" if file else ""
    return (
        f"table {table.name}: a file that the changes since {since} need is gone{gone}, most likely by "
        f"VACUUM, so stream {read.stream} is stale. Re-create the stream and its consumer with --full-refresh, and "
        "raise delta.deletedFileRetentionDuration or consume more often."
    )
