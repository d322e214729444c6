"""What a run by changes will take, before one has shown it (decision 0027)."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.streamspark.consume.changed import Changed

# Seconds however little has changed, and more for each base table that changed, which is a term of its own.
FIXED, FIXED_PER_TABLE = 1.0, 0.5
# A byte that changed takes about so many times as long as one that a rebuild reads: it is read, looked up at the far
# ends, merged and committed; fewer where it is added to the target's groups, which reads no group again. Where changed
# rows lie all over the files their keys do too, and looking these up reads all files.
PER_BYTE, PER_BYTE_ADDED, PER_BYTE_SCATTERED = 12.0, 6.0, 30.0


def guess(tables: Sequence[Changed], anew: float, added: bool = False) -> float:
    """Seconds by changes where a rebuild takes `anew` seconds; `added`: changes are added to the target's groups. The
    size of one table at least is known.

    >>> tables = [Changed("t", 100, 2000), Changed("u", 0, 2000)]
    >>> guess(tables, 60.0), guess(tables, 60.0, added=True), guess([Changed("t", 100, 2000, marked=2000)], 60.0)
    (37.5, 19.5, 181.5)
    """
    changed, whole, marked = (
        sum(getattr(table, name) or 0 for table in tables) for name in ("changed", "whole", "marked")
    )
    per_byte = PER_BYTE_ADDED if added else PER_BYTE
    per_byte += (PER_BYTE_SCATTERED - per_byte) * min(1.0, marked / whole)
    return fixed(tables) + per_byte * anew * changed / (whole / 2)


def fixed(tables: Sequence[Changed]) -> float:
    """Seconds of a run by changes that do not go with their bytes."""
    return FIXED + FIXED_PER_TABLE * sum(table.changed > 0 for table in tables)
