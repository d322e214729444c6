"""Of a table's rows those are looked at that have one of the keys, where a set of them is worth it."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
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

from dbt.adapters.streamspark.changes.differentiate.keys import Column
from dbt.adapters.streamspark.changes.differentiate.local_rows import keep
from dbt.adapters.streamspark.consume import key_range, members

TYPES: dict[str, DataType] = {
    "tiny": ByteType(), "small": ShortType(), "whole": IntegerType(), "large": LongType(), "day": DateType(),
}  # fmt: skip
EACH_SECOND = range(-100, 100, 2)
OTHERS: dict[str, tuple[DataType, list[Any]]] = {
    "cents": (DecimalType(9, 2), [Decimal(number) for number in EACH_SECOND]),
    "text": (StringType(), [str(number) for number in EACH_SECOND]),
    "whole": (LongType(), [*EACH_SECOND]),  # of another type than the table's
    "none": (IntegerType(), [*EACH_SECOND]),
}


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """The numbers from -100 to 99, and NULL."""
    return spark.sql(
        "select cast(id as tinyint) as tiny, cast(id as smallint) as small, cast(id as int) as whole, id as large, "
        "date_add(date'1970-01-01', cast(id as int)) as day, cast(id as decimal(9, 2)) as cents, "
        "cast(id as string) as text from (select id - 100 as id from range(200) union all select null)"
    )


@pytest.mark.parametrize("name", TYPES)
def test_rows_with_one_of_the_keys(rows: DataFrame, name: str) -> None:
    kind = TYPES[name]
    values = [date.fromordinal(members.FIRST_DAY + n) if isinstance(kind, DateType) else n for n in EACH_SECOND]
    found = members.members(rows, {name.upper(): Column(kind, tuple(values)), "large": Column(LongType(), None)})
    assert "INSET" in found._jdf.queryExecution().toString()
    assert sorted(row.large for row in found.collect()) == [*EACH_SECOND]


@pytest.mark.parametrize("name", OTHERS)
def test_rows_are_left_alone(rows: DataFrame, name: str) -> None:
    kind, values = OTHERS[name]
    assert members.members(rows, {name: Column(kind, tuple(values))}) is rows


CHANGES = "select explode(sequence(-100, 99, 2)) as whole, 'a' as text"


@pytest.mark.parametrize(("least", "asked"), [(100, "large"), (134, "large"), (135, None)])
def test_the_column_that_spares_most_keeps_its_values(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, least: int, asked: str | None
) -> None:
    """Of 200 rows 100 have another whole number and 134 another large one, as far as the statistics tell."""
    monkeypatch.setattr(key_range, "LEAST", least)
    changes = spark.sql(f"select whole, cast(whole - whole % 3 as bigint) as large, text from ({CHANGES})")
    bounds = {"whole": -100, "large": -100}, {"whole": 99, "large": 99}
    stats = json.dumps({"numRecords": 200, "minValues": bounds[0], "maxValues": bounds[1]})
    found = key_range.key_range(keep(changes), ("whole", "text", "large"), [{"stats": stats}])
    assert [name for name, column in found.known.items() if column.values is not None] == [asked] * (asked is not None)
    assert all(column.never_null for column in found.known.values())
