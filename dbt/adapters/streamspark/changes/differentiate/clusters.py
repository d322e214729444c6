"""Values in few ranges: what changes in a table often lies together in several places, as new rows and old ones do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

MOST = 8
Ranges = Sequence[tuple[Any, Any]]
WIDE = 32  # a gap that is less than the 32nd part of the whole is not worth a range


def clusters(ordered: Sequence[Any], ends: Sequence[Any] = ()) -> Ranges:
    """The smallest and largest value of each of at most MOST ranges that hold all of the `ordered` values, which can be
    subtracted from one another, and little else: the widest gaps are left out. With `ends`, which are as many, these
    are ranges themselves that begin with the `ordered` values and do not overlap.

    >>> clusters([1, 2, 3, 1000, 1001])
    [(1, 3), (1000, 1001)]
    >>> clusters(list(range(0, 1000, 10)))
    [(0, 990)]
    >>> clusters([1, 3, 1000], [2, 10, 1000])
    [(1, 10), (1000, 1000)]
    """
    if not ordered:
        return []
    ends = ends or ordered
    whole = ends[-1] - ordered[0]
    gaps = (
        (after - before, place) for place, (before, after) in enumerate(zip(ends, ordered[1:], strict=False), start=1)
    )
    widest = sorted((gap for gap in gaps if gap[0] * WIDE > whole), reverse=True)[: MOST - 1]
    cuts = [0, *sorted(place for _, place in widest), len(ordered)]
    return [(ordered[first], ends[last - 1]) for first, last in pairwise(cuts)]
