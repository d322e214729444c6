"""The rows that a target holds of the keys that a change set is about, called t."""

from __future__ import annotations

from dbt.adapters.streamspark.consume.columns import struct
from dbt.adapters.streamspark.consume.scd import Scd


def held_rows(scd: Scd, target: str, keys: str, join: str = "join") -> str:
    """SQL for FROM. `keys` is a relation of `key`, called c."""
    same = " and ".join(f"{key.of('t')} <=> {key.of('c.key')}" for key in scd.stored_keys)
    return f"{target} as t {join} {keys} as c on {same}"


def held_key(scd: Scd) -> str:
    return struct((key, key.of("t")) for key in scd.stored_keys)


def held_data(scd: Scd) -> str:
    return struct((column, column.of("t")) for column in scd.told)
