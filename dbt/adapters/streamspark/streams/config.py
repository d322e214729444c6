"""The configuration of a stream, as the user wrote it: checked key by key (docs/reference/stream-config.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from dbt.adapters.streamspark.changes.changes import QUERY_MODES
from dbt.adapters.streamspark.changes.formats import FORMATS
from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.changes.read import MODES
from dbt.adapters.streamspark.errors import InvalidStreamConfig
from dbt.adapters.streamspark.streams.config_checks import (
    Checks,
    boolean,
    checked_config,
    columns,
    days,
    one_of,
    predicate,
)

ON_CONFIGURATION_CHANGE = ("apply", "continue", "fail")
ON_SCHEMA_CHANGE = ("ignore", "append_new_columns", "sync_all_columns", "fail")
REFRESHES = ("auto", "incremental", "strict", "full")
FAIL, FULL_REFRESH, REBASE = "fail", "full_refresh", "rebase"
ON_STALE = (FAIL, FULL_REFRESH, REBASE)
POINTS = ("version", "timestamp", "stream")


@dataclass(frozen=True)
class StartPoint:
    """Where a stream starts: `kind` now, at or before; `by` version, timestamp or stream; `value` of that."""

    kind: str = "now"
    by: str = ""
    value: int | str = ""

    def __str__(self) -> str:
        return self.kind if self.kind == "now" else f"{self.kind} {self.by} {self.value}"


NOW = StartPoint()


@dataclass(frozen=True)
class StreamConfig:
    """A stream's validated configuration; `enable_tracking` None means: unless the table says no."""

    mode: str = "standard"
    show_initial_rows: bool = False
    start: StartPoint = NOW
    unique_key: tuple[str, ...] = ()
    metadata_columns: str = "delta"
    on_configuration_change: str = "apply"
    on_stale: str = "fail"
    max_data_extension_days: int = 14
    enable_tracking: bool | None = None


def parse_config(raw: Mapping[str, Any], stream: str) -> StreamConfig:
    """The configuration in `raw` (key -> value; None counts as not given) of the stream called `stream`; keys
    that are no stream's are left alone.

    Raises InvalidStreamConfig, which names the key, its value and what is allowed.
    """
    checked = checked_config(raw, f"stream {stream}", CHECKS, "a stream")
    start = _start(stream, checked.pop("at", None), checked.pop("before", None))
    config = StreamConfig(**checked, start=start)
    _check_together(stream, config)
    return config


def parse_changes_config(raw: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The same of a `changes` model: the keys that are given, checked."""
    return checked_config(raw, f"model {model}", CHANGES_CHECKS, "a changes model")


def parse_differential_config(raw: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The same of a model with incremental_strategy `differential`."""
    return checked_config(raw, f"model {model}", DIFFERENTIAL_CHECKS, "a differential model")


def _check_together(stream: str, config: StreamConfig) -> None:
    if config.unique_key and config.mode != "standard":
        raise InvalidStreamConfig(
            f"stream {stream}: unique_key = {list(config.unique_key)} contradicts mode = {config.mode!r}: there is no "
            "old row to pair a new one with. Leave unique_key out, or use mode 'standard'."
        )
    if config.on_stale != FAIL and config.mode != "standard":
        raise InvalidStreamConfig(
            f"stream {stream}: on_stale = {config.on_stale!r} contradicts mode = {config.mode!r}: rows that came and "
            "went are not in the table any more. Leave on_stale out, or use mode 'standard'."
        )
    if config.mode == "insert_only" and config.enable_tracking:
        raise InvalidStreamConfig(
            f"stream {stream}: enable_tracking = True contradicts mode = 'insert_only', which reads no row ids. "
            "Leave enable_tracking out."
        )


def _start(stream: str, at: tuple[str, Any] | None, before: tuple[str, Any] | None) -> StartPoint:
    if at and before:
        raise InvalidStreamConfig(
            f"stream {stream}: at = {dict([at])} and before = {dict([before])} are both given; a stream starts at one "
            "point. Leave one of them out."
        )
    if at:
        return StartPoint("at", *at)
    return StartPoint("before", *before) if before else NOW


def _point(value: Any) -> tuple[str, int | str]:
    forms = "{version: 12}, {timestamp: '2026-01-31 12:00:00'} or {stream: 'other_stream'}"
    if not isinstance(value, Mapping) or len(value) != 1 or next(iter(value)) not in POINTS:
        raise ValueError(f"is no point in time. Allowed: {forms}.")
    ((by, of),) = value.items()
    if by == "version":
        return by, _version(of)
    if by == "timestamp" and isinstance(of, date | datetime):
        return by, of.isoformat(sep=" ") if isinstance(of, datetime) else of.isoformat()
    if not isinstance(of, str) or not of.strip():
        raise ValueError(f"has no {by} in it. Allowed: {forms}.")
    return by, of.strip()


def _version(value: Any) -> int:
    if isinstance(value, bool) or not str(value).isdigit():
        raise ValueError("has no table version in it: a whole number, 0 or more.")
    return int(value)


CHECKS: Checks = {
    "mode": one_of(MODES),
    "show_initial_rows": boolean,
    "at": _point,
    "before": _point,
    "unique_key": columns,
    "metadata_columns": one_of(DIALECTS),
    "on_configuration_change": one_of(ON_CONFIGURATION_CHANGE),
    "on_stale": one_of(ON_STALE),
    "max_data_extension_days": days,
    "enable_tracking": boolean,
}
CHANGES_CHECKS: Checks = {
    "format": one_of(FORMATS),
    "initial_rows": boolean,
    "mode": one_of(QUERY_MODES),
    "metadata_columns": one_of(DIALECTS),
    "max_data_extension_days": days,
    "enable_tracking": boolean,
}
DIFFERENTIAL_CHECKS: Checks = {
    "unique_key": columns,
    "refresh": one_of(REFRESHES),
    "immutable_where": predicate,
    "on_configuration_change": one_of(ON_CONFIGURATION_CHANGE),
    "on_schema_change": one_of(ON_SCHEMA_CHANGE),
    "max_data_extension_days": days,
    "enable_tracking": boolean,
}
