"""How long a table keeps what a stream may still need: the files it has removed, and its log."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.log import TableLog

FILE_RETENTION = "delta.deletedFileRetentionDuration"
LOG_RETENTION = "delta.logRetentionDuration"
DAY = 24 * 60 * 60 * 1000


def retention_to_set(log: TableLog, days: int) -> dict[str, str]:
    """The table properties to set so that the table keeps both for `days`. What it keeps longer stays, and 0 days
    leave it alone."""
    return {name: f"interval {days} days" for name, kept in retention(log).items() if kept < days * DAY}


def retention(log: TableLog) -> dict[str, int]:
    """Property -> milliseconds."""
    jvm = log._jvm
    metadata = log.snapshot().metadata()
    return {
        FILE_RETENTION: int(jvm.org.apache.spark.sql.delta.DeltaLog.tombstoneRetentionMillis(metadata)),
        LOG_RETENTION: int(log.java.deltaRetentionMillis(metadata)),
    }
