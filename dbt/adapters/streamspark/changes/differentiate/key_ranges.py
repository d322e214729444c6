"""The ranges in which the values of a column lie that has more of them than the driver holds: clusters.py by Spark."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.types import DateType, StringType

from dbt.adapters.streamspark.changes.differentiate.clusters import WIDE, Ranges, clusters
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.changes.projection import quoted

NO_SUCH_DAY = (ValueError, OverflowError)  # after the year 9999, or before the year 1: Spark has such days
# A gap that is worth leaving out is wider than two of so many equal parts of the whole, so that its ends lie in
# different ones. A part may hold no value.
PARTS = 2 * WIDE
_BY_PART = (
    "select min(k) as least, max(k) as most, max(k is null) as has_null from (select {column} as k from {rows}) "
    "cross join (select {number}(min({column})) as low, "
    f"({{number}}(max({{column}})) - {{number}}(min({{column}}))) / {PARTS} as width from {{rows}}) "
    "group by floor(({number}(k) - low) / nullif(width, 0))"
)
_WHOLE = "select min({column}) as least, max({column}) as most, max({column} is null) as has_null from {rows}"


def key_ranges(frame: DataFrame, column: str) -> tuple[Ranges | None, bool]:
    """The smallest and largest value of each range, at most MOST of them and of texts one, and whether NULL is a value;
    no ranges where one is a day that Python does not know. Runs one query, which sorts nothing."""
    kind = frame.schema[column].dataType
    sql = _WHOLE if isinstance(kind, StringType) else _BY_PART
    with Views(frame.sparkSession) as views:
        number = "unix_date" if isinstance(kind, DateType) else "double"  # whose difference is never too large
        sql = sql.format(column=quoted(column), rows=views.add(frame, what="values"), number=number)
        try:
            rows = frame.sparkSession.sql(sql).collect()
        except NO_SUCH_DAY:
            return None, False
    parts = sorted((row["least"], row["most"]) for row in rows if row["least"] is not None)
    ranges = (
        parts if isinstance(kind, StringType) else clusters([least for least, _ in parts], [most for _, most in parts])
    )
    return ranges, any(row["has_null"] for row in rows)
