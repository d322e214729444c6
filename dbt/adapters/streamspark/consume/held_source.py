"""The source of a MERGE, computed once: how many rows it has, and where in the target their keys are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.differentiate.local_rows import Kept, keep, too_many
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.changes.log import Action
from dbt.adapters.streamspark.consume.key_range import KeyRange, key_range
from dbt.adapters.streamspark.consume.merge import Merge

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


def too_large(rows: int) -> bool:
    """Whether so many rows are left to Delta."""
    return rows > MOST_ROWS


def held_source(
    spark: SparkSession, merge: Merge, many: bool, views: Views, files: Sequence[Action] = ()
) -> HeldSource | None:
    """None for a source that is too large. `many`: it reads more rows than the driver holds, and of so many there is as
    much to merge; it is not computed in vain. `files`: the target's, as far as they are known."""
    kept = keep(spark.sql(f"select * from {merge.source}"), many)
    assert kept.count is not None
    if too_large(kept.count):
        return None
    held = replace(merge, source=views.add(kept.frame, what="source"))
    where = _where(spark, kept, held, files)
    within = f"({where.test}){f' and {merge.within}' if merge.within else ''}"
    return HeldSource(replace(held, within=within, known=where.known), kept.count)


def stage(spark: SparkSession, view: str, many: bool) -> int:
    """The view reads its rows as they were computed, so many of them; `many` as in Consumption."""
    staged = keep(spark.table(view), many)
    staged.frame.createOrReplaceTempView(view)
    assert staged.count is not None
    return staged.count


def _where(spark: SparkSession, kept: Kept, merge: Merge, files: Sequence[Action]) -> KeyRange:
    names = [column for column, _ in merge.keys]
    values = ", ".join(f"{sql} as __k{place}" for place, (_, sql) in enumerate(merge.keys))
    keys = replace(kept, frame=spark.sql(f"select {values} from {merge.source} s").toDF(*names))
    return key_range(keys, names, files)
