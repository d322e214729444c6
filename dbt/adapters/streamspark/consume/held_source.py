"""The source of a MERGE, computed once: how many rows it has, and where in the target their keys are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.differentiate.local_rows import Kept, keep, too_many
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.key_range import key_range
from dbt.adapters.streamspark.consume.merge import Merge


@dataclass(frozen=True)
class HeldSource:
    """`merge` is the MERGE whose source has `count` rows, which were computed."""

    merge: Merge
    count: int

    @property
    def many(self) -> bool:
        """More than the driver holds."""
        return too_many(self.count)


def held_source(spark: SparkSession, consumption: Consumption, views: Views) -> HeldSource:
    """Of a consumption that has a merge. What was computed when it was planned is not computed again."""
    merge = consumption.merge
    assert merge is not None
    if consumption.count is not None:
        return HeldSource(merge, consumption.count)
    if merge.staged:
        keep(spark.table(merge.staged)).frame.createOrReplaceTempView(merge.staged)
    kept = keep(spark.sql(f"select * from {merge.source}"))
    assert kept.count is not None
    held = replace(merge, source=views.add(kept.frame, what="source"))
    return HeldSource(replace(held, within=_within(spark, kept, held)), kept.count)


def _within(spark: SparkSession, kept: Kept, merge: Merge) -> str:
    names = [column for column, _ in merge.keys]
    values = ", ".join(f"{sql} as __k{place}" for place, (_, sql) in enumerate(merge.keys))
    keys = replace(kept, frame=spark.sql(f"select {values} from {merge.source} s").toDF(*names))
    return f"({key_range(keys, names)})"
