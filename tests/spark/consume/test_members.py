"""Of a table's rows those are looked at that have one of the keys, where a set of them is worth it."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ByteType,
    DataType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
)

from dbt.adapters.streamspark.changes.differentiate import members
from dbt.adapters.streamspark.changes.differentiate.keys import Column
from dbt.adapters.streamspark.changes.differentiate.snapshots import files_at
from dbt.adapters.streamspark.changes.log import TableLog
from tests.consuming import path_table

TYPES: dict[str, DataType] = {
    "tiny": ByteType(), "small": ShortType(), "whole": IntegerType(), "large": LongType(), "day": DateType(),
}  # fmt: skip
EACH_SECOND = range(-100, 100, 2)
OTHERS: dict[str, tuple[DataType, list[Any]]] = {
    "cents": (DecimalType(9, 2), [Decimal(number) for number in EACH_SECOND]),
    "text": (StringType(), [str(number) for number in EACH_SECOND]),
    "whole": (LongType(), [*EACH_SECOND]),  # of another type than the table's
    "tiny": (ByteType(), [*EACH_SECOND][:50]),  # few enough for the text of a query
    "large": (LongType(), [*EACH_SECOND, None]),
    "none": (IntegerType(), [*EACH_SECOND]),
}


@pytest.fixture(scope="module")
def log(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> TableLog:
    """A table of the numbers from -100 to 99, and NULL."""
    folder: Path = tmp_path_factory.mktemp("members")
    table = path_table(folder, "t")
    spark.sql(
        f"create table {table} using delta tblproperties ('delta.enableDeletionVectors' = 'true') as "
        "select cast(id as tinyint) as tiny, cast(id as smallint) as small, cast(id as int) as whole, id as large, "
        "date_add(date'1970-01-01', cast(id as int)) as day, cast(id as decimal(9, 2)) as cents, "
        "cast(id as string) as text from (select id - 100 as id from range(200) union all select null)"
    )
    spark.sql(f"delete from {table} where large = 4")
    return TableLog(spark, table)


@pytest.fixture(autouse=True)
def least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "LEAST", 50)


def of_keys(log: TableLog, rows: DataFrame, **keys: Column) -> DataFrame:
    return members.members(rows, keys, files_at(log, log.version) or ())


@pytest.mark.parametrize("name", TYPES)
def test_rows_with_one_of_the_keys(log: TableLog, name: str) -> None:
    kind = TYPES[name]
    values = [date.fromordinal(members.FIRST_DAY + n) if isinstance(kind, DateType) else n for n in EACH_SECOND]
    found = of_keys(log, log.spark.table(log.name), **{name.upper(): Column(kind, tuple(values))})
    assert "INSET" in found._jdf.queryExecution().toString()
    assert sorted(row.large for row in found.collect()) == [number for number in EACH_SECOND if number != 4]


def test_the_column_that_spares_most_is_asked(log: TableLog) -> None:
    third = range(-100, 100, 3)
    second = Column(IntegerType(), tuple(EACH_SECOND))
    found = of_keys(log, log.spark.table(log.name), whole=second, large=Column(LongType(), tuple(third)))
    assert [row.large for row in found.orderBy("large").collect()] == [number for number in third if number != 4]


@pytest.mark.parametrize("name", OTHERS)
def test_rows_are_left_alone(log: TableLog, name: str) -> None:
    kind, values = OTHERS[name]
    rows = log.spark.table(log.name)
    assert of_keys(log, rows, **{name: Column(kind, tuple(values), has_null=None in values)}) is rows


def test_rows_of_unknown_keys_are_left_alone(log: TableLog) -> None:
    rows = log.spark.table(log.name)
    assert of_keys(log, rows, large=Column(LongType(), None, [(-100, 100)])) is rows


def test_where_few_rows_are_spared_they_are_left_alone(log: TableLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "LEAST", 102)
    rows = log.spark.table(log.name)
    assert of_keys(log, rows, large=Column(LongType(), tuple(EACH_SECOND))) is rows
