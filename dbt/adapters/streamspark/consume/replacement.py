"""What a target is to hold whole, where it keeps all else: its columns, its properties, what hangs on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Replacement:
    """`rows` is the SELECT of all rows, two of which may have the same `keys` unless these are none: that has to be
    seen. The statement that makes the table anew does see it, and is run where replace_rows.py does not do it."""

    rows: str
    keys: tuple[str, ...] = ()
