"""Checks of configuration keys that streams and models share: each takes the user's value and gives it as ours, or
raises ValueError whose text follows "key = value"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from dbt.adapters.streamspark.errors import InvalidStreamConfig
from dbt.adapters.streamspark.near import near

DBT_KEYS = frozenset({"on_schema_change", "begin", "meta", "full_refresh", "full-refresh", "file_format"})
Checks: TypeAlias = "dict[str, Callable[[Any], Any]]"


def checked_config(raw: Mapping[str, Any], subject: str, checks: Checks, what: str) -> dict[str, Any]:
    """The keys of `checks` that `raw` gives (None counts as not given), checked. `subject` begins each message, such
    as "stream s"; `what` is its kind. Other keys are left alone.

    Raises InvalidStreamConfig, which names the key, its value and what is allowed.
    """
    given = {key: value for key, value in raw.items() if value is not None}
    _check_keys(given, subject, checks, what)
    return {key: _checked(subject, key, value, checks[key]) for key, value in given.items() if key in checks}


def _check_keys(given: Mapping[str, Any], subject: str, checks: Checks, what: str) -> None:
    """A key that is all but one of ours is a slip of the pen; other keys are somebody else's."""
    for key in given:
        meant = "" if key in checks or key in DBT_KEYS else near(key, checks, alike=0.75)
        if meant:
            raise InvalidStreamConfig(
                f"{subject}: {key} is no configuration of {what}.{meant} Allowed: {', '.join(checks)}."
            )


def _checked(subject: str, key: str, value: Any, check: Callable[[Any], Any]) -> Any:
    try:
        return check(value)
    except ValueError as error:
        raise InvalidStreamConfig(f"{subject}: {key} = {value!r} {error}") from error


def one_of(allowed: Iterable[str]) -> Callable[[Any], str]:
    names = tuple(allowed)

    def check(value: Any) -> str:
        if value in names:
            return str(value)
        raise ValueError(f"is not known.{near(value, names)} Allowed: {', '.join(names)}.")

    return check


def boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    raise ValueError("is neither true nor false.")


def columns(value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name.strip() for name in names):
        raise ValueError("is no column name nor a list of column names.")
    lower = [name.lower() for name in names]
    if not names:
        raise ValueError("names no column.")
    if len(set(lower)) != len(lower):
        raise ValueError("names a column twice.")
    return tuple(names)


def days(value: Any) -> int:
    if isinstance(value, bool) or not str(value).isdigit():
        raise ValueError("is no whole number of days, 0 or more (0: never extend).")
    return int(value)


def predicate(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError("is no SQL predicate on the model's rows. Allowed: a text such as \"op = 'D'\".")
