"""Both versions in full, compared: slow, and right wherever time travel works. The oracle of the others."""

from __future__ import annotations

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.rows import changed_version, pair, removed_version, side


def snapshot_diff(interval: Interval) -> DataFrame:
    """Reads the table at both ends and joins all of it by row id or unique key. Which rows changed owes nothing
    to the commits between; only the version that a change is reported under is taken from them."""
    old = side(interval, interval.schemas.snapshot(interval.start or 0), f"{removed_version(interval)} as __gone")
    new = side(interval, interval.schemas.snapshot(interval.end), f"{changed_version(interval)} as __changed")
    return pair(interval, old, new)
