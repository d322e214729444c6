"""Base tables read once for many queries: what the leaves give, held by the driver.

The readers stay real and have tests of their own; here a table's rows are read once per interval, and its changes once
per interval and choice of columns (what counts as changed depends on them), so that a query over it costs no more than
its own planning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.differentiate.leaves import ROW_ID, Leaf
from dbt.adapters.streamspark.changes.differentiate.local_rows import keep
from dbt.adapters.streamspark.changes.projection import quoted


@contextmanager
def held_leaves() -> Iterator[None]:
    """Inside, `Leaf.rows` and `Leaf.changes` read each thing once. For the tables of one session, of few rows."""
    frames: dict[object, DataFrame] = {}
    rows, changes = Leaf.rows, Leaf.changes

    def once(key: object, read: Callable[[], DataFrame]) -> DataFrame:
        if key not in frames:
            frames[key] = keep(read()).frame
        return frames[key]

    def held_rows(leaf: Leaf, at_end: bool) -> DataFrame:
        whole = leaf.of(leaf.interval.schemas.columns, leaf.scans)
        frame = once(("rows", *_interval(leaf), at_end), lambda: rows(whole, at_end))
        return frame.select(*map(quoted, leaf.columns), ROW_ID)

    def held_changes(leaf: Leaf, appended: bool) -> DataFrame:
        return once(("changes", *_interval(leaf), appended, *leaf.columns), lambda: changes(leaf, appended))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Leaf, "rows", held_rows)
        patch.setattr(Leaf, "changes", held_changes)
        yield


def _interval(leaf: Leaf) -> tuple[object, ...]:
    return leaf.interval.log.path, leaf.interval.start, leaf.interval.end
