"""Columns of a target of apply_changes that another configuration has made, and this one would leave as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbt.adapters.streamspark.consume.columns import Column
from dbt.adapters.streamspark.consume.scd_config import ScdConfig


def other_kind(config: ScdConfig, selected: Iterable[str], target: Sequence[Column]) -> str:
    """What the target is, such as "a history (valid_from, ...)", or "" where it is what `config` makes. `selected`: the
    names of the SELECT's columns, which are not meant.

    >>> target = [Column("id", "int"), Column("is_deleted", "boolean")]
    >>> other_kind(ScdConfig(("id",)), ["id"], target), other_kind(ScdConfig(("id",)), ["id", "is_deleted"], target)
    ('a table of soft deletes (is_deleted)', '')
    """
    own = {name.lower() for name in selected}
    held = {column.name.lower(): column.type for column in target if column.name.lower() not in own}
    history = [config.valid_from, config.valid_to, config.is_current]
    if not config.history and all(name.lower() in held for name in history) and _is_flag(held, config.is_current):
        return f"a history ({', '.join(history)})"
    if not config.soft_deletes and _is_flag(held, config.is_deleted):
        return f"a table of soft deletes ({config.is_deleted})"
    return ""


def _is_flag(held: dict[str, str], name: str) -> bool:
    return held.get(name.lower()) == "boolean"
