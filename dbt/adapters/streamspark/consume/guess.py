"""What a run by changes will take, before one has shown it (decision 0027)."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.streamspark.consume.assumed import Assumed
from dbt.adapters.streamspark.consume.changed import Changed

# Seconds however little has changed, and more for each base table that changed, which is a term of its own.
FIXED, FIXED_PER_TABLE = 1.0, 0.5


def guess(tables: Sequence[Changed], anew: float, assume: Assumed) -> float:
    """Seconds by changes where a rebuild takes `anew` seconds. The size of one table at least is known.

    >>> tables, assume = [Changed("t", 100, 2000), Changed("u", 0, 2000)], Assumed(6.0, 30.0, cold=2.0)
    >>> guess(tables, 60.0, assume), guess([Changed("t", 100, 2000, marked=1000)], 60.0, assume)
    (19.5, 109.5)
    """
    changed, marked = sum(table.changed for table in tables), sum(table.marked for table in tables)
    whole = sum(table.whole or 0 for table in tables)
    times = assume.together + (assume.scattered - assume.together) * min(1.0, marked / whole)
    return fixed(tables) + times * anew * changed / (whole / 2)


def fixed(tables: Sequence[Changed]) -> float:
    """Seconds of a run by changes that do not go with their bytes."""
    return FIXED + FIXED_PER_TABLE * sum(table.changed > 0 for table in tables)
