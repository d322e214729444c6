"""What a table gets so that a stream can be on it: row ids, and time to be read. By one ALTER TABLE, or none. The time
is taken back when no stream needs it any more."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import BrokenSource
from dbt.adapters.streamspark.literals import literal
from dbt.adapters.streamspark.spark_errors import denial, is_conflict
from dbt.adapters.streamspark.streams.config import StreamConfig
from dbt.adapters.streamspark.streams.names import table_sql
from dbt.adapters.streamspark.streams.retention import BEFORE, retention_to_restore, retention_to_set
from dbt.adapters.streamspark.streams.tracking import tracking_to_set

TRIES = 5
_lock = Lock()


def prepare(log: TableLog, config: StreamConfig, stream: str) -> None:
    """Alter the table in `log` (refreshed) where it lacks what the stream asks for.

    Raises InvalidStreamConfig where row tracking is off and must stay so, BrokenSource where the table may not be
    altered.
    """
    if not _to_set(log, config, stream):
        return
    with _lock:  # streams on one table are made on several threads
        for attempt in range(1, TRIES + 1):
            wanted = _to_set(log.refresh(), config, stream)
            if not wanted or _set(log, wanted, stream, last=attempt == TRIES):
                break
    log.refresh()


def release(log: TableLog) -> bool:
    """Let the table keep what it kept before `prepare`; whether that was something else. Row tracking stays. Raises
    what Spark raises where the table may not be altered."""
    properties = retention_to_restore(log)
    put = _pairs({key: value for key, value in properties.items() if value is not None})
    taken = ", ".join(literal(key) for key, value in properties.items() if value is None)
    for change in (f"set tblproperties ({put})" if put else "", f"unset tblproperties ({taken})" if taken else ""):
        if change:
            log.spark.sql(f"alter table {table_sql(log.name)} {change}")
    return bool(properties)


def _to_set(log: TableLog, config: StreamConfig, stream: str) -> dict[str, str]:
    tracked = config.mode != "insert_only"
    tracking = tracking_to_set(log, config.enable_tracking, stream) if tracked else {}
    return {**tracking, **retention_to_set(log, config.max_data_extension_days)}


def _set(log: TableLog, properties: dict[str, str], stream: str, last: bool) -> bool:
    """Whether no other writer came in between."""
    try:
        log.spark.sql(f"alter table {table_sql(log.name)} set tblproperties ({_pairs(properties)})")
    except Exception as error:
        said = denial(error)
        if said is not None:
            asked = {key: value for key, value in properties.items() if key != BEFORE}  # an owner's own, from then on
            raise _denied(log, _pairs(asked), stream, said) from error
        if last or not is_conflict(error):
            raise
        return False
    return True


def _pairs(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{literal(key)} = {literal(value)}" for key, value in properties.items())


def _denied(log: TableLog, pairs: str, stream: str, said: str) -> BrokenSource:
    return BrokenSource(
        f"stream {stream}: table {log.name} may not be altered ({said}). Have somebody who may do so run ALTER TABLE "
        f"{log.name} SET TBLPROPERTIES ({pairs}), or say max_data_extension_days: 0 where it is retention alone."
    )
