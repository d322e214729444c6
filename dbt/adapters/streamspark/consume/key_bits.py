"""Keys of rows as small numbers, of which a bitmap holds millions: by these it is known that no two are equal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from dbt.adapters.streamspark.changes.log import Action
from dbt.adapters.streamspark.consume.columns import Column

# Each task sends a bitmap of its rows to the driver, which takes 1 GB of results in all: two bytes for a row, and eight
# for each 2**16 numbers, half a MB for 2**32. In memory these are some sixty bytes: thinner ones would take more than a
# dozen bytes for a row.
MOST_BITS, MOST_ROWS = 32, 2**26
THINNEST, SMALL = 1024, 2**20
INTEGERS = ("tinyint", "smallint", "int", "bigint")
DAY = "date"
EPOCH = date(1970, 1, 1)
Stats = dict[str, Any]  # of a file, as Delta's log has them


def key_bits(keys: Sequence[Column], files: Sequence[Action]) -> str | None:
    """SQL of a number below 2**32 for the key of a row, the same for equal keys. Rows with as many numbers as there are
    rows have keys that are unique; the opposite is not said, as a key out of the range in which keys are expected may
    have another's number, and one with a NULL has none.

    Expected are keys where those of `files` (add actions) lie, and as many again; of the column with the widest range
    as many more as may be, since new keys may lie far above the old. None where their statistics do not tell, or it
    takes too many numbers.

    >>> files = [{"stats": '{"numRecords":4,"minValues":{"id":7,"line":1},"maxValues":{"id":9,"line":3}}'}]
    >>> key_bits([Column("id", "int"), Column("line", "int")], files)
    'shiftleft((cast(`id` as bigint) & 131071L), 3) | (cast(`line` as bigint) & 7L)'
    """
    told = [json.loads(file.get("stats") or "{}") for file in files]
    ranges = [known for key in keys if (known := _range(key, told)) is not None]
    widths = [(2 * (most - least + 1) - 1).bit_length() for least, most in ranges]
    spare = _most_bits(sum(one.get("numRecords", 0) for one in told)) - sum(widths)
    if len(widths) < len(keys) or spare < 0:
        return None
    widths[widths.index(max(widths))] += spare
    return " | ".join(_parts(keys, widths))


def _parts(keys: Sequence[Column], widths: Sequence[int]) -> Iterator[str]:
    """Each key's lowest bits, which tell numbers of its range apart, beside those of the next."""
    above = sum(widths)
    for key, width in zip(keys, widths, strict=True):
        above -= width
        bits = f"(cast({_number(key)} as bigint) & {2**width - 1}L)"
        yield f"shiftleft({bits}, {above})" if above else bits


def _number(key: Column) -> str:
    return f"unix_date({key.quoted})" if key.type == DAY else key.quoted


def _most_bits(rows: int) -> int:
    """-1 where there are too many rows."""
    return min(MOST_BITS, max(SMALL, THINNEST * rows).bit_length() - 1) if rows <= MOST_ROWS else -1


def _range(key: Column, told: Sequence[Stats]) -> tuple[int, int] | None:
    """The least and the greatest number that files of these statistics may hold."""
    if key.type not in (*INTEGERS, DAY) or not told:
        return None
    bounds = [_bound(one.get(side, {}).get(key.name)) for one in told for side in ("minValues", "maxValues")]
    known = [bound for bound in bounds if bound is not None]
    return (min(known), max(known)) if len(known) == len(bounds) else None


def _bound(found: Any) -> int | None:
    return (date.fromisoformat(found) - EPOCH).days if isinstance(found, str) else found
