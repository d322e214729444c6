"""DataFrames as named relations for the length of one analysis."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.temp_view import drop_temp_view, temp_view


@contextmanager
def relations(spark: SparkSession, **frames: DataFrame) -> Iterator[dict[str, str]]:
    """Names under which SQL analysed inside the block can read `frames`; they are gone after it."""
    names = {key: f"__streamspark_{key}_{uuid.uuid4().hex}" for key in frames}
    for key, frame in frames.items():
        temp_view(frame, names[key])
    try:
        yield names
    finally:
        for name in names.values():
            drop_temp_view(spark, name)
