"""A unique key that is not unique must be said aloud: pairing by it would make up changes."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.streamspark.literals import literal


def unique_rows(relation: str, table: str, unique_key: Sequence[str]) -> str:
    """`relation` (columns with `__row`) as a subquery that fails when read if two rows have one id. The window
    shuffles by the id, which the join that follows needs anyway. Without a unique key, `relation` itself."""
    if not unique_key:
        return relation
    message = literal(f"table {table}: unique_key ({', '.join(unique_key)}) is not unique, rows with one key: ")
    counted = f"select *, count(*) over (partition by __row) as __copies from {relation}"
    return f"(select * from ({counted}) where if(__copies > 1, raise_error(concat({message}, __copies)), true))"
