"""How long a base table keeps what a stream may still need."""

from __future__ import annotations

from typing import Any

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.streams.names import table_sql

FILE_RETENTION = "delta.deletedFileRetentionDuration"
LOG_RETENTION = "delta.logRetentionDuration"
DAY = 24 * 60 * 60 * 1000


def extend_retention(log: TableLog, days: int) -> bool:
    """Raise the table's retention of removed files and of its log to `days`, where it is shorter. Whether it was
    raised; it is never lowered, and 0 days leave it alone."""
    wanted = days * DAY
    short = [name for name, kept in _retention(log).items() if kept < wanted]
    if not short:
        return False
    settings = ", ".join(f"'{name}' = 'interval {days} days'" for name in short)
    log.spark.sql(f"alter table {table_sql(log.name)} set tblproperties ({settings})")
    log.refresh()
    return True


def _retention(log: TableLog) -> dict[str, int]:
    """Property -> milliseconds."""
    jvm: Any = log.spark._jvm
    metadata = log.snapshot().metadata()
    return {
        FILE_RETENTION: int(jvm.org.apache.spark.sql.delta.DeltaLog.tombstoneRetentionMillis(metadata)),
        LOG_RETENTION: int(log.java.deltaRetentionMillis(metadata)),
    }
