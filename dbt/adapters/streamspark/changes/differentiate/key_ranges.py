"""The ranges in which the values of a column lie that has more of them than the driver holds: clusters.py by Spark."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.types import DateType, StringType

from dbt.adapters.streamspark.changes.differentiate.clusters import MOST, WIDE, Ranges
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.changes.projection import quoted

# A row for each of the values before which the widest gaps are, the very first among them, with the value `before` it.
_WIDEST = (
    "select k, before, most, has_null from ("
    "select k, lag(k) over (order by k) as before, max(k) over () as most, max(k is null) over () as has_null "
    "from (select distinct {column} as k from {rows})) "
    "where k is not null or most is null order by {number}(k) - {number}(before) desc nulls first "
    f"limit {MOST}"
)
_WHOLE = (
    "select min({column}) as k, null as before, max({column}) as most, max({column} is null) as has_null from {rows}"
)


def key_ranges(frame: DataFrame, column: str) -> tuple[Ranges, bool]:
    """The smallest and largest value of each range, at most MOST of them and of texts one, and whether NULL is a value.
    Runs one query."""
    kind = frame.schema[column].dataType
    sql = _WHOLE if isinstance(kind, StringType) else _WIDEST
    with Views(frame.sparkSession) as views:
        number = "unix_date" if isinstance(kind, DateType) else "double"  # whose difference is never too large
        sql = sql.format(column=quoted(column), rows=views.add(frame, what="values"), number=number)
        rows = sorted(frame.sparkSession.sql(sql).collect(), key=lambda row: (row["before"] is not None, row["before"]))
    if not rows or rows[0]["most"] is None:
        return [], bool(rows and rows[0]["has_null"])
    least, most = rows[0]["k"], rows[0]["most"]
    wide = [row for row in rows[1:] if (row["k"] - row["before"]) * WIDE > most - least]
    begins = [least, *(row["k"] for row in wide)]
    ends = [*(row["before"] for row in wide), most]
    return list(zip(begins, ends, strict=True)), bool(rows[0]["has_null"])
