"""Base tables read once for many queries: what the leaves give, held by the driver.

The readers stay real and have tests of their own; here a table is read once per interval and choice of columns, so
that a query over it costs no more than its own planning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.differentiate.leaves import Leaf
from dbt.adapters.streamspark.changes.differentiate.local_rows import keep


@contextmanager
def held_leaves() -> Iterator[None]:
    """Inside, `Leaf.rows` and `Leaf.changes` read each thing once. For the tables of one session, of few rows."""
    frames: dict[object, DataFrame] = {}

    def once(method: Callable[[Leaf, bool], DataFrame]) -> Callable[[Leaf, bool], DataFrame]:
        def held(leaf: Leaf, what: bool) -> DataFrame:
            interval = leaf.interval
            key = (method.__name__, interval.log.path, interval.start, interval.end, tuple(leaf.columns), what)
            if key not in frames:
                frames[key] = keep(method(leaf, what)).frame
            return frames[key]

        return held

    with pytest.MonkeyPatch.context() as patch:
        for method in (Leaf.rows, Leaf.changes):
            patch.setattr(Leaf, method.__name__, once(method))
        yield
