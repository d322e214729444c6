"""No start: every row at the end, as an insert (the paper's INITIAL_ROWS; SHOW_INITIAL_ROWS in document 003)."""

from __future__ import annotations

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.readers.insert_only import untracked_inserts
from dbt.adapters.streamspark.changes.rows import IMAGE_VERSION, inserts


def initial_rows(interval: Interval, tracked: bool) -> DataFrame:
    """Every row carries the version that wrote it; where rows are not tracked, the end version."""
    frame = interval.log.spark.read.format("delta").option("versionAsOf", interval.end).load(interval.log.path)
    if tracked:
        return inserts(interval, frame, IMAGE_VERSION)
    return untracked_inserts(interval, frame, f"{interval.end}L")
