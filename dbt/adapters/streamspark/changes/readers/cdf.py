"""The change data feed, netted per unique key: cheap to read, because every writer has paid for it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.file_changes import EMPTY
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.minimise import minimise
from dbt.adapters.streamspark.changes.rows import data_struct, filtered, nothing, row_id
from dbt.adapters.streamspark.changes.selected import selected
from dbt.adapters.streamspark.changes.temp_relation import relations
from dbt.adapters.streamspark.errors import BrokenSource, ConsumptionRefused

FEED = "delta.enableChangeDataFeed"
_IS_NEW = "_change_type in ('insert', 'update_postimage')"
_ORDER = f"_commit_version * 2 + if({_IS_NEW}, 1, 0)"


def cdf(interval: Interval) -> DataFrame:
    """Per key, the first event tells the row at the start and the last the row at the end. The feed holds no row
    ids, so a unique key must pair the rows; nor does it say which commit wrote an old image: its
    `__image` is NULL."""
    if not interval.unique_key:
        raise ConsumptionRefused(
            f"table {interval.log.name}: the cdf reader needs a unique_key, as the feed has no row ids"
        )
    _check_feed(interval)
    if interval.shape == EMPTY:  # Delta refuses to read the feed of no commit at all
        return nothing(interval)
    events = _events(interval)
    data = events.schema["__data"].dataType
    assert isinstance(data, StructType)
    ends = events.groupBy("__row").agg(_first(), _last())
    with relations(interval.log.spark, old=_old(ends), new=_new(ends)) as names:
        return interval.log.spark.sql(minimise(names["old"], names["new"], data))


def _events(interval: Interval) -> DataFrame:
    reader = interval.log.spark.read.format("delta").option("readChangeFeed", "true")
    feed = reader.option("startingVersion", (interval.start or 0) + 1).option("endingVersion", interval.end)
    columns = [
        f"{row_id(interval)} as __row",
        "_commit_version as __rcv",
        f"{_IS_NEW} as __is_new",
        f"{_ORDER} as __order",
        f"{data_struct(interval)} as __data",
    ]
    return selected(filtered(interval, feed.load(interval.log.path)), columns)


def _first() -> Column:
    return F.expr("min_by(struct(__is_new, __rcv, __data), __order)").alias("__first")


def _last() -> Column:
    return F.expr("max_by(struct(__is_new, __rcv, __data), __order)").alias("__last")


def _old(ends: DataFrame) -> DataFrame:
    """A key whose first event is an old image was there at the start."""
    return ends.where("not __first.__is_new").selectExpr(
        "__row", "cast(null as bigint) as __rcv", "__last.__rcv as __gone", "__first.__data as __data"
    )


def _new(ends: DataFrame) -> DataFrame:
    """A key whose last event is a new image is there at the end."""
    return ends.where("__last.__is_new").selectExpr("__row", "__last.__rcv as __rcv", "__last.__data as __data")


def _check_feed(interval: Interval) -> None:
    off = [c.version for c in interval.commits if c.metadata and c.metadata["configuration"].get(FEED) != "true"]
    if interval.log.properties.get(FEED) != "true" or off:
        raise BrokenSource(
            f"table {interval.log.name}: the cdf reader needs {FEED} on throughout the interval "
            f"({interval.start}, {interval.end}]; use the endpoint_diff reader, which needs none"
        )
