"""The difference of two bags as internal change rows (changes/metadata_columns.py): inserts and deletes."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.literals import literal

_COLUMNS = (
    "if(__sign = 1, 'insert', 'delete') as __type",
    "cast(null as bigint) as __version",
    "cast(null as bigint) as __image",
    "md5(__id) as __row",
)


def bag_rows(names: Sequence[str], relation: str) -> str:
    """A SELECT over a relation with `__id`, `__sign` and the columns of these names. No commit made the rows."""
    data = ", ".join(f"{literal(name)}, {quoted(name)}" for name in names)
    return f"select {', '.join(_COLUMNS)}, named_struct({data}) as __data from {relation}"
