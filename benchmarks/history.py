"""A history of customers (SCD type 2) for `benchmarks.maintained`: `apply_changes` over a stream, and by hand.

By hand it is the usual MERGE of the change data feed, in which each changed row comes twice: with its key, to close the
version that is current, and without, to open the next. There is no rebuild: the source does not know its past.

The source is a copy of customer, so that the other queries' customers stay as they are. Its rows come, go and are
updated all over the table, whatever the kind of the other changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from pyspark.sql import SparkSession

from benchmarks.by_hand import TARGET_PROPERTIES, WITH_FEED, feed, hold, newest
from tests.tpch.data import new_keys

NAME = "customer_history"
SOURCE = "tpch.customer_copy"
OURS, TARGET = f"maintained.{NAME}__apply_changes", f"maintained.{NAME}__by_hand"
MODELS = {
    f"{NAME}_stream__apply_changes": "{{ config(materialized='stream', show_initial_rows=true) }}\n"
    f"select * from {SOURCE}",
    f"{NAME}__apply_changes": "{{ config(materialized='incremental', incremental_strategy='apply_changes', scd_type=2, "
    f"unique_key='c_custkey') }}}}\nselect * from {{{{ stream('{NAME}_stream__apply_changes') }}}}",
}
ADDED = "valid_from, valid_to, is_current"
CURRENT = f"(select * except ({ADDED}) from {{}} where is_current)"
CLOSE_AND_OPEN = f"""merge into {TARGET} as held using (
      select c_custkey as merge_key, * from changed
      union all select null, * from changed where _change_type <> 'delete'
    ) as now on held.c_custkey = now.merge_key and held.is_current
    when matched then update set valid_to = now.valid_from, is_current = false
    when not matched and merge_key is null then insert *"""
LAST_CHANGES = """select * except (_commit_version, _commit_timestamp), _commit_timestamp as valid_from,
      cast(null as timestamp) as valid_to, true as is_current
    from {feed} where _change_type <> 'update_preimage'
    qualify row_number() over (partition by c_custkey order by _commit_version desc, _change_type = 'delete') = 1"""


class HistoryByHand:
    def __init__(self, spark: SparkSession):
        self.spark = spark
        self.version = -1

    def build(self) -> None:
        self._hold_changes()
        rows = "select * except (_change_type) from changed"
        self.spark.sql(f"create or replace table {TARGET} using delta tblproperties ({TARGET_PROPERTIES}) as {rows}")

    def refresh(self) -> float:
        """The seconds that it took."""
        begun = perf_counter()
        self._hold_changes()
        self.spark.sql(CLOSE_AND_OPEN)
        return perf_counter() - begun

    def _hold_changes(self) -> None:
        """The last change of each key, in the columns of the target, as `changed`."""
        since, self.version = self.version, newest(self.spark, [SOURCE])[SOURCE]
        hold(self.spark.sql(LAST_CHANGES.format(feed=feed(SOURCE, since, self.version))), "changed")


def alike(by_hand: bool) -> list[list[str]]:
    """Which tables hold the same rows: the source and the versions that are current, and all versions where they are
    kept by hand, too."""
    return [[SOURCE, CURRENT.format(OURS)], *([[OURS, TARGET]] if by_hand else [])]


def load_source(spark: SparkSession) -> None:
    """Dropped before, so that its feed begins with its first rows."""
    spark.sql(f"drop table if exists {SOURCE}")
    properties = f"{TARGET_PROPERTIES}, 'delta.enableRowTracking' = 'true', {WITH_FEED}"
    spark.sql(f"create table {SOURCE} using delta tblproperties ({properties}) as select * from tpch.customer")


def refresh_source(number: int, share: float) -> Iterator[str]:
    """`share` of the customers, at most half, gets new keys, so that as many come as go, and as many others are
    updated. Deletes are last: with changes after it a delete may name a later commit than its own (decision 0008), and
    the two histories would not be the same."""
    every = max(2, round(1 / share))
    shift = new_keys(every)
    moved = f"c_custkey % {every} = {number % every}"
    new = f"c_custkey + {shift} as c_custkey, * except (c_custkey)"
    yield f"insert into {SOURCE} by name select {new} from {SOURCE} where {moved}"
    updated = (number + 2 * every // 3) % every
    yield f"update {SOURCE} set c_acctbal = c_acctbal + 500 where c_custkey % {every} = {updated}"
    yield f"delete from {SOURCE} where {moved} and c_custkey <= {(1 + (number - 1) // every) * shift}"
