"""A unique key that is not unique must be said aloud: pairing by it would make up changes."""

from __future__ import annotations

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.projection import literal


def unique_rows(interval: Interval, side: DataFrame) -> DataFrame:
    """`side` (columns with `__row`), failing when read if two rows have one id. The window shuffles by the id,
    which the join that follows needs anyway."""
    key = ", ".join(interval.unique_key)
    message = literal(f"table {interval.log.name}: unique_key ({key}) is not unique; rows with key hash ")
    rows = side.selectExpr("*", "count(*) over (partition by __row) as __copies")
    check = f"if(__copies > 1, raise_error(concat({message}, __row, ': ', __copies)), true)"
    return rows.where(check).drop("__copies")
