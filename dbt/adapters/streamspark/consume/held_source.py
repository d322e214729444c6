"""The source of a MERGE, computed once: how many rows it has, and where in the target their keys are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.differentiate.local_rows import Kept, keep, too_many
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.key_range import key_range
from dbt.adapters.streamspark.consume.merge import NOT_SO_SIMPLE, Merge

ROWS_OF_A_FILE = 100_000
MOST_ROWS = 1_000_000  # it is broadcast, and each match goes through the driver as a number


@dataclass(frozen=True)
class HeldSource:
    """`merge` is the MERGE whose source has `count` rows, which were computed."""

    merge: Merge
    count: int

    @property
    def many(self) -> bool:
        """More than the driver holds."""
        return too_many(self.count)

    @property
    def files(self) -> int:
        """Into how many its rows are written, each by a task of its own."""
        return 1 + self.count // ROWS_OF_A_FILE


def held_source(spark: SparkSession, consumption: Consumption, views: Views) -> HeldSource | None:
    """None for a consumption without a merge, and for a source that is too large. What was computed when it was planned
    is not computed again."""
    merge, count = consumption.merge, consumption.count
    if merge is None:
        return None
    found = _computed(spark, merge, views) if count is None else HeldSource(merge, count)
    return None if found is None or found.count > MOST_ROWS else found


def _computed(spark: SparkSession, merge: Merge, views: Views) -> HeldSource | None:
    staged = _stage(spark, merge.staged) if merge.staged else 0
    if staged > MOST_ROWS:
        return None
    many = too_many(staged)  # of so many changed rows there is as much to merge: it is not computed in vain
    kept = _simply(spark, merge, many) or keep(spark.sql(f"select * from {merge.source}"), many)
    assert kept.count is not None
    held = replace(merge, source=views.add(kept.frame, what="source"))
    return HeldSource(replace(held, within=_within(spark, kept, held)), kept.count)


def _simply(spark: SparkSession, merge: Merge, many: bool) -> Kept | None:
    """None where the case is not the usual one."""
    if not merge.simpler:
        return None
    try:
        return keep(spark.sql(f"select * from {merge.simpler}"), many)
    except (PySparkException, Py4JJavaError) as error:
        if NOT_SO_SIMPLE not in str(error):
            raise
        return None


def _stage(spark: SparkSession, view: str) -> int:
    """The view reads its rows as they were computed, so many of them."""
    staged = keep(spark.table(view))
    staged.frame.createOrReplaceTempView(view)
    assert staged.count is not None
    return staged.count


def _within(spark: SparkSession, kept: Kept, merge: Merge) -> str:
    names = [column for column, _ in merge.keys]
    values = ", ".join(f"{sql} as __k{place}" for place, (_, sql) in enumerate(merge.keys))
    keys = replace(kept, frame=spark.sql(f"select {values} from {merge.source} s").toDF(*names))
    return f"({key_range(keys, names)})"
