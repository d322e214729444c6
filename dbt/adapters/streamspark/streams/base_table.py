"""What a table gets so that a stream can be on it: row ids, and time to be read. In one commit, or none."""

from __future__ import annotations

from threading import Lock

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.literals import literal
from dbt.adapters.streamspark.spark_errors import is_conflict
from dbt.adapters.streamspark.streams.config import StreamConfig
from dbt.adapters.streamspark.streams.names import table_sql
from dbt.adapters.streamspark.streams.retention import retention_to_set
from dbt.adapters.streamspark.streams.tracking import tracking_to_set

TRIES = 5
_lock = Lock()


def prepare(log: TableLog, config: StreamConfig, stream: str) -> None:
    """Alter the table in `log` (refreshed) where it lacks what the stream asks for.

    Raises InvalidStreamConfig where row tracking is off and must stay so.
    """
    if not _to_set(log, config, stream):
        return
    with _lock:  # streams on one table are made on several threads
        for attempt in range(1, TRIES + 1):
            wanted = _to_set(log.refresh(), config, stream)
            if not wanted or _set(log, wanted, last=attempt == TRIES):
                break
    log.refresh()


def _to_set(log: TableLog, config: StreamConfig, stream: str) -> dict[str, str]:
    tracked = config.mode != "insert_only"
    tracking = tracking_to_set(log, config.enable_tracking, stream) if tracked else {}
    return {**tracking, **retention_to_set(log, config.max_data_extension_days)}


def _set(log: TableLog, properties: dict[str, str], last: bool) -> bool:
    """Whether no other writer came in between."""
    pairs = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in properties.items())
    try:
        log.spark.sql(f"alter table {table_sql(log.name)} set tblproperties ({pairs})")
    except Exception as error:
        if last or not is_conflict(error):
            raise
        return False
    return True
