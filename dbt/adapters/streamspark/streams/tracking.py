"""Row tracking of a base table: what gives rows the ids by which a stream tells them apart."""

from __future__ import annotations

from threading import Lock

from dbt.adapters.streamspark.changes.interval import TRACKING
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import InvalidStreamConfig
from dbt.adapters.streamspark.spark_errors import is_conflict
from dbt.adapters.streamspark.streams.names import table_sql

TRIES = 5
_lock = Lock()


def ensure_tracking(log: TableLog, enable: bool | None, stream: str) -> bool:
    """Switch row tracking on for the table in `log` (refreshed), unless it is on. Whether it was switched.

    `enable` None leaves a table alone whose owner switched tracking off in so many words. Raises
    InvalidStreamConfig when it is off and must stay so.
    """
    if is_tracked(log):
        return False
    if enable is False or (enable is None and log.properties.get(TRACKING) == "false"):
        raise InvalidStreamConfig(_refusal(log, enable, stream))
    with _lock:  # streams on one table are made on several threads
        for attempt in range(1, TRIES + 1):
            if is_tracked(log.refresh()):
                return False
            if _switch_on(log, last=attempt == TRIES):
                break
    log.refresh()
    return True


def is_tracked(log: TableLog, version: int | None = None) -> bool:
    """Whether row tracking was on at `version`, the newest when none is given."""
    if version is None:
        return log.properties.get(TRACKING) == "true"
    configuration = log.snapshot(version).metadata().configuration()
    value = configuration.get(TRACKING)
    return bool(value.isDefined()) and str(value.get()) == "true"


def _switch_on(log: TableLog, last: bool) -> bool:
    try:
        log.spark.sql(f"alter table {table_sql(log.name)} set tblproperties ('{TRACKING}' = 'true')")
    except Exception as error:
        if last or not is_conflict(error):
            raise
        return False
    return True


def _refusal(log: TableLog, enable: bool | None, stream: str) -> str:
    why = f"enable_tracking = {enable}" if enable is False else f"the table says {TRACKING} = false"
    return (
        f"stream {stream}: table {log.name} has no row tracking and {why}, so its rows cannot be told apart. "
        f"ALTER TABLE {log.name} SET TBLPROPERTIES ('{TRACKING}' = 'true'), or enable_tracking: true in the stream's "
        "configuration, or mode: insert_only, which needs none."
    )
