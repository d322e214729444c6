"""Internal change rows and the sides they are made from, as DataFrames (see `metadata_columns`, `minimise`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.file_versions import file_versions
from dbt.adapters.streamspark.changes.identity import identity
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.minimise import minimise
from dbt.adapters.streamspark.changes.selected import selected
from dbt.adapters.streamspark.changes.temp_relation import relations
from dbt.adapters.streamspark.changes.unique_rows import unique_rows
from dbt.adapters.streamspark.literals import literal

ROW_ID = "_metadata.row_id"
IMAGE_VERSION = "_metadata.row_commit_version"


def data_struct(interval: Interval) -> str:
    """SQL of the struct of the data columns, over the base columns."""
    fields = ", ".join(f"{literal(name)}, {sql}" for name, sql in interval.data_columns)
    return f"named_struct({fields})"


def row_id(interval: Interval) -> str:
    """SQL of the id: the table's own row id, or a hash of the unique key where one pairs the rows."""
    if not interval.unique_key:
        return ROW_ID
    outputs = dict(interval.data_columns)
    return identity([outputs[name] for name in interval.unique_key])


def changed_version(interval: Interval) -> str:
    """SQL of the version in which a row of the end came to be. A restored row brings its old version along."""
    if interval.files.restored is None:
        return IMAGE_VERSION
    return f"if({IMAGE_VERSION} > {interval.start}, {IMAGE_VERSION}, {interval.files.restored}L)"


def removed_version(interval: Interval) -> str:
    """SQL of the version that took a row of the start away, told by the file that held it."""
    removal = interval.files.removal
    return file_versions(interval.log.uri, {path: version or interval.end for path, version in removal.items()})


def side(interval: Interval, frame: DataFrame, extra: str, data: str = "") -> DataFrame:
    """One end's rows for `minimise`: `__row`, `__rcv`, the column `extra` and `__data`."""
    return selected(filtered(interval, frame), side_columns(interval, extra, data))


def new_side(interval: Interval, frame: DataFrame) -> DataFrame:
    """The end's rows as a side. The values of rows that were only copied need not be shuffled: their version says that
    they are old. After a RESTORE it does not, and under a unique key the pair may be another row."""
    told_apart = not interval.unique_key and interval.files.restored is None
    data = f"if({IMAGE_VERSION} > {interval.start}, {data_struct(interval)}, null)" if told_apart else ""
    return side(interval, frame, f"{changed_version(interval)} as __changed", data)


def filtered(interval: Interval, frame: DataFrame) -> DataFrame:
    where = interval.projection.where
    return frame if where is None else frame.where(where)


def side_columns(interval: Interval, extra: str, data: str = "") -> list[str]:
    """The select list of a side, over the base columns and `_metadata`; `data` is the SQL of the struct, where it is
    another than that of the values."""
    return [
        f"{row_id(interval)} as __row",
        f"{IMAGE_VERSION} as __rcv",
        extra,
        f"{data or data_struct(interval)} as __data",
    ]


def pair(interval: Interval, old: DataFrame, new: DataFrame) -> DataFrame:
    """The minimal difference of two sides (`old` with `__gone`, `new` with `__changed`)."""
    data = old.schema["__data"].dataType
    assert isinstance(data, StructType)
    with relations(interval.log.spark, old=old, new=new) as names:
        before = unique_rows(names["old"], interval.log.name, interval.unique_key)
        after = unique_rows(names["new"], interval.log.name, interval.unique_key)
        return interval.log.spark.sql(minimise(before, after, data, changed="n.__changed"))


def inserts(interval: Interval, frame: DataFrame, version: str) -> DataFrame:
    """Every row of `frame` as an insert; `version` is the SQL of the commit that made it."""
    return _one_sided(interval, frame, "insert", version)


def nothing(interval: Interval) -> DataFrame:
    """No rows, in the right columns, for no Spark job."""
    return inserts(interval, interval.schemas.frame([], interval.end), "0L").where("false")


def deletes(interval: Interval, frame: DataFrame, version: str) -> DataFrame:
    """Every row of `frame` as a delete."""
    return _one_sided(interval, frame, "delete", version)


def _one_sided(interval: Interval, frame: DataFrame, change_type: str, version: str) -> DataFrame:
    columns = [
        f"'{change_type}' as __type",
        f"cast({version} as bigint) as __version",
        f"{IMAGE_VERSION} as __image",
        f"cast({row_id(interval)} as string) as __row",
        f"{data_struct(interval)} as __data",
    ]
    return selected(filtered(interval, frame), columns)


def union(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionAll, frames)
