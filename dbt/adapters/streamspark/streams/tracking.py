"""Row tracking of a base table: what gives rows the ids by which a stream tells them apart."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.interval import TRACKING
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import InvalidStreamConfig


def tracking_to_set(log: TableLog, enable: bool | None, stream: str) -> dict[str, str]:
    """The table properties to set so that the table in `log` is tracked; {} where it is.

    `enable` None leaves a table alone whose owner switched tracking off in so many words. Raises
    InvalidStreamConfig when it is off and must stay so.
    """
    if is_tracked(log):
        return {}
    if enable is False or (enable is None and log.properties.get(TRACKING) == "false"):
        raise InvalidStreamConfig(_refusal(log, enable, stream))
    return {TRACKING: "true"}


def is_tracked(log: TableLog, version: int | None = None) -> bool:
    """Whether row tracking was on at `version`, the newest when none is given."""
    if version is None:
        return log.properties.get(TRACKING) == "true"
    configuration = log.snapshot(version).metadata().configuration()
    value = configuration.get(TRACKING)
    return bool(value.isDefined()) and str(value.get()) == "true"


def _refusal(log: TableLog, enable: bool | None, stream: str) -> str:
    why = f"enable_tracking = {enable}" if enable is False else f"the table says {TRACKING} = false"
    return (
        f"stream {stream}: table {log.name} has no row tracking and {why}, so its rows cannot be told apart. "
        f"ALTER TABLE {log.name} SET TBLPROPERTIES ('{TRACKING}' = 'true'), or enable_tracking: true in the stream's "
        "configuration, or mode: insert_only, which needs none."
    )
