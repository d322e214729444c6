"""The configuration of a stream, as the user wrote it: checked key by key (DESIGN.md section 3.2)."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeAlias

from dbt.adapters.streamspark.changes.changes import QUERY_MODES
from dbt.adapters.streamspark.changes.formats import FORMATS
from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.changes.read import MODES
from dbt.adapters.streamspark.errors import InvalidStreamConfig

ON_CONFIGURATION_CHANGE = ("apply", "continue", "fail")
REFRESHES = ("auto", "incremental", "strict", "full")
ON_STALE = ("fail",)
LATER = {"on_stale": ("full_refresh", "rebase")}
POINTS = ("version", "timestamp", "stream")
DBT_KEYS = frozenset({"on_schema_change", "begin", "meta", "full_refresh", "full-refresh", "file_format"})
Checks: TypeAlias = "dict[str, Callable[[Any], Any]]"


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
    given = {key: value for key, value in raw.items() if value is not None}
    _check_keys(given, stream, CHECKS)
    checked = {key: _checked(stream, key, value, CHECKS) for key, value in given.items() if key in CHECKS}
    start = _start(stream, checked.pop("at", None), checked.pop("before", None))
    config = StreamConfig(**checked, start=start)
    _check_together(stream, config)
    return config


def parse_changes_config(raw: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The same of a `changes` model: the keys that are given, checked."""
    return _given(raw, model, CHANGES_CHECKS, "a changes model")


def parse_differential_config(raw: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The same of a model with incremental_strategy `differential`."""
    return _given(raw, model, DIFFERENTIAL_CHECKS, "a differential model")


def _given(raw: Mapping[str, Any], model: str, checks: Checks, what: str) -> dict[str, Any]:
    given = {key: value for key, value in raw.items() if value is not None}
    _check_keys(given, model, checks, what)
    return {key: _checked(model, key, value, checks) for key, value in given.items() if key in checks}


def _check_keys(given: Mapping[str, Any], stream: str, checks: Checks, what: str = "a stream") -> None:
    """A key that is all but one of ours is a slip of the pen; other keys are somebody else's."""
    for key in given:
        known = key in checks or key in DBT_KEYS
        close = [] if known else difflib.get_close_matches(key, checks, n=1, cutoff=0.75)
        if close:
            raise InvalidStreamConfig(
                f"stream {stream}: {key} is no configuration of {what}. Did you mean {close[0]}? Allowed: "
                f"{', '.join(checks)}."
            )


def _checked(stream: str, key: str, value: Any, checks: Checks) -> Any:
    if value in LATER.get(key, ()):
        raise InvalidStreamConfig(f"stream {stream}: {key} = {value!r} comes later. Leave {key} out.")
    try:
        return checks[key](value)
    except ValueError as error:
        raise InvalidStreamConfig(f"stream {stream}: {key} = {value!r} {error}") from error


def _check_together(stream: str, config: StreamConfig) -> None:
    if config.unique_key and config.mode != "standard":
        raise InvalidStreamConfig(
            f"stream {stream}: unique_key = {list(config.unique_key)} contradicts mode = {config.mode!r}: there is no "
            "old row to pair a new one with. Leave unique_key out, or use mode 'standard'."
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


def _one_of(allowed: Iterable[str]) -> Callable[[Any], str]:
    names = tuple(allowed)

    def check(value: Any) -> str:
        if value in names:
            return str(value)
        close = difflib.get_close_matches(str(value), names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"is not known.{hint} Allowed: {', '.join(names)}.")

    return check


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    raise ValueError("is neither true nor false.")


def _columns(value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name.strip() for name in names):
        raise ValueError("is no column name nor a list of column names.")
    lower = [name.lower() for name in names]
    if not names:
        raise ValueError("names no column.")
    if len(set(lower)) != len(lower):
        raise ValueError("names a column twice.")
    return tuple(names)


def _days(value: Any) -> int:
    if isinstance(value, bool) or not str(value).isdigit():
        raise ValueError("is no whole number of days, 0 or more (0: never extend).")
    return int(value)


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
    "mode": _one_of(MODES),
    "show_initial_rows": _boolean,
    "at": _point,
    "before": _point,
    "unique_key": _columns,
    "metadata_columns": _one_of(DIALECTS),
    "on_configuration_change": _one_of(ON_CONFIGURATION_CHANGE),
    "on_stale": _one_of(ON_STALE),
    "max_data_extension_days": _days,
    "enable_tracking": _boolean,
}
CHANGES_CHECKS: Checks = {
    "format": _one_of(FORMATS),
    "initial_rows": _boolean,
    "mode": _one_of(QUERY_MODES),
    "metadata_columns": _one_of(DIALECTS),
    "max_data_extension_days": _days,
    "enable_tracking": _boolean,
}
DIFFERENTIAL_CHECKS: Checks = {
    "unique_key": _columns,
    "refresh": _one_of(REFRESHES),
    "max_data_extension_days": _days,
    "enable_tracking": _boolean,
}
