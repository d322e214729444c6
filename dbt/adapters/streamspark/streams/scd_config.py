"""The configuration of a model with incremental_strategy `apply_changes`, as the user wrote it: checked key by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from dbt.adapters.streamspark.errors import InvalidStreamConfig
from dbt.adapters.streamspark.streams.config_checks import Checks, boolean, checked_config, columns, predicate

SCD_TYPES = (1, 2)
NAMES = ("valid_from", "valid_to", "is_current", "is_deleted")
PREDICATES = ("apply_as_deletes", "apply_as_truncates")
Given: TypeAlias = "Mapping[str, Any]"


def parse_scd_config(raw: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The keys that the model called `model` gives, checked, also for what contradicts what.

    Raises InvalidStreamConfig, which names the key, its value and what is allowed.
    """
    given = checked_config(raw, f"model {model}", CHECKS, "an apply_changes model")
    if "unique_key" not in given:
        raise InvalidStreamConfig(
            f"model {model}: apply_changes needs a unique_key: the column, or list of columns, that tells rows apart."
        )
    for key, contradicted, why in CONTRADICTIONS:
        if given.get(key) and contradicted(given):
            raise InvalidStreamConfig(f"model {model}: {key} = {raw[key]!r} {why}")
    _check_kept_keys(given, model)
    _check_names(given, model)
    return given


def _check_kept_keys(given: Mapping[str, Any], model: str) -> None:
    """The target cannot do without the columns that tell its rows apart."""
    left_out = {name.lower() for name in given.get("except_columns", ())}
    gone = [name for name in given["unique_key"] if name.lower() in left_out]
    if gone:
        raise InvalidStreamConfig(
            f"model {model}: except_columns = {list(given['except_columns'])!r} contradicts unique_key, which has "
            f"{', '.join(gone)}. Keep it: the target's rows are told apart by it."
        )


def _check_names(given: Mapping[str, Any], model: str) -> None:
    """The columns that the target has more must be told apart."""
    named: dict[str, str] = {}
    for key in NAMES:
        name = str(given.get(key, key))
        other = named.setdefault(name.lower(), key)
        if other != key:
            raise InvalidStreamConfig(
                f"model {model}: {key} = {name!r} contradicts {other}, which has the same name. Give it another."
            )


def _scd_type(value: Any) -> int:
    if isinstance(value, bool) or str(value) not in map(str, SCD_TYPES):
        raise ValueError(f"is not known. Allowed: {', '.join(map(str, SCD_TYPES))}.")
    return int(value)


def _column(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError("is no column name. Give an expression a name in the SELECT, and say that name here.")


def _columns_or_boolean(value: Any) -> bool | tuple[str, ...]:
    if isinstance(value, list | tuple):
        return columns(value)
    try:
        return boolean(value)
    except ValueError as error:
        raise ValueError("is neither true nor false nor a list of column names.") from error


def _column_or_columns(value: Any) -> str | tuple[str, ...]:
    """A text names the column that holds, row by row, the names."""
    if isinstance(value, list | tuple):
        return columns(value)
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError("is neither a list of column names nor the name of a column that holds such lists.")


CHECKS: Checks = {
    "unique_key": columns,
    "scd_type": _scd_type,
    "sequence_by": _column,
    **dict.fromkeys(PREDICATES, predicate),
    "soft_deletes": boolean,
    "columns": columns,
    "except_columns": columns,
    "track_history_columns": columns,
    "track_history_except_columns": columns,
    "ignore_null_updates": _columns_or_boolean,
    "columns_to_update": _column_or_columns,
    **dict.fromkeys(NAMES, _column),
}


def _no_history(given: Given) -> bool:
    return given.get("scd_type", 1) != 2


_NEEDS_HISTORY = "contradicts scd_type = 1, which keeps no history. Say scd_type = 2, or leave it out."
CONTRADICTIONS: tuple[tuple[str, Callable[[Given], bool], str], ...] = (
    *((key, _no_history, _NEEDS_HISTORY) for key in ("track_history_columns", "track_history_except_columns")),
    *((key, _no_history, _NEEDS_HISTORY) for key in NAMES[:3]),
    (
        "track_history_except_columns",
        lambda given: "track_history_columns" in given,
        "contradicts track_history_columns. Say which columns are tracked, or which are not.",
    ),
    (
        "except_columns",
        lambda given: "columns" in given,
        "contradicts columns. Say which columns the target has, or which it has not.",
    ),
    (
        "apply_as_truncates",
        lambda given: given.get("scd_type") == 2,
        "contradicts scd_type = 2: a history is not truncated. Use scd_type = 1, or leave it out.",
    ),
    (
        "apply_as_truncates",
        lambda given: bool(given.get("soft_deletes")),
        "contradicts soft_deletes = True: one removes rows, the other keeps them. Leave one of them out.",
    ),
    (
        "is_deleted",
        lambda given: not given.get("soft_deletes"),
        "names a column that only soft_deletes makes. Say soft_deletes = True, or leave it out.",
    ),
)
