"""How long a table keeps what a stream may still need: the files it has removed, and its log."""

from __future__ import annotations

import json

from dbt.adapters.streamspark.changes.log import TableLog

FILE_RETENTION = "delta.deletedFileRetentionDuration"
LOG_RETENTION = "delta.logRetentionDuration"
# what a table kept before, and what a stream made of it: property -> [value or null, value]
BEFORE = "streamspark.retention_before"
DAY = 24 * 60 * 60 * 1000


def retention_to_set(log: TableLog, days: int) -> dict[str, str]:
    """The table properties to set so that the table keeps both for `days`, and what tells how it was before. What it
    keeps longer stays, and 0 days leave it alone."""
    raised = {name: f"interval {days} days" for name, kept in retention(log).items() if kept < days * DAY}
    if not raised:
        return {}
    known, now = _before(log), log.properties
    before = {name: [known.get(name, [now.get(name)])[0], value] for name, value in raised.items()}
    return {**_given(log), **raised, BEFORE: json.dumps({**known, **before})}


def retention_to_restore(log: TableLog) -> dict[str, str | None]:
    """The table properties to set (None: unset) so that the table keeps what it kept before streams raised it. What
    somebody has set since stays. {} where nothing was raised."""
    now, known = log.properties, _before(log)
    restored = {name: before for name, (before, made) in known.items() if now.get(name) == made}
    return {**_given(log), **restored, BEFORE: None} if known else {}


def _given(log: TableLog) -> dict[str, str]:
    """Delta compares the two that one statement sets, and takes its default for one that is not among them."""
    return {name: value for name, value in log.properties.items() if name in (FILE_RETENTION, LOG_RETENTION)}


def _before(log: TableLog) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = json.loads(log.properties.get(BEFORE, "{}"))
    return found


def retention(log: TableLog) -> dict[str, int]:
    """Property -> milliseconds."""
    jvm = log._jvm
    metadata = log.snapshot().metadata()
    return {
        FILE_RETENTION: int(jvm.org.apache.spark.sql.delta.DeltaLog.tombstoneRetentionMillis(metadata)),
        LOG_RETENTION: int(log.java.deltaRetentionMillis(metadata)),
    }
