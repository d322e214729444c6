"""Rows whose key must be unique, and the error where it is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.literals import literal

COUNT = "__streamspark_count"


def unique_rows(model: str, sql: str, keys: Sequence[str]) -> str:
    """The SELECT of the rows of `sql`, which fails where two of them have the same `keys`. Told by a window: in groups
    the rows would be structs, and all columns of them sorted."""
    counted = f"select *, count(*) over (partition by {key_list(keys)}) as {COUNT} from ({sql})"
    seen = f"if({COUNT} > 1, raise_error({twice(model, keys, COUNT)}), true)"
    return f"select * except ({COUNT}) from ({counted}) where {seen}"


def twice(model: str, keys: Sequence[str], count: str) -> str:
    """SQL of the message where `count` (SQL) rows have one key, over these rows."""
    return (
        f"concat({literal(f'{model}: ')}, {count}, {literal(' new rows for one unique_key (')}, "
        f"{literal(', '.join(keys))}, {literal('): ')}, to_json(struct({key_list(keys)})), "
        f"{literal('. Which of them is right cannot be known; make the key unique, or the SELECT.')})"
    )


def key_list(keys: Iterable[str]) -> str:
    return ", ".join(map(quoted, keys))
