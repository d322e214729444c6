"""Which tests of keys a look at the target is spared by."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql.types import DataType, DateType, DecimalType, IntegerType, StringType

from dbt.adapters.streamspark.changes.differentiate.keys import LISTED, Column
from dbt.adapters.streamspark.changes.differentiate.narrows import narrows, spared

MANY = LISTED + 1
TEXTS = [f"k{number:03}" for number in range(MANY)]
DECIMALS = [Decimal(number) / 2 for number in range(MANY)]


def file(least: Any, most: Any, name: str = "id", rows: int = 10) -> dict[str, Any]:
    return {"stats": json.dumps({"numRecords": rows, "minValues": {name: least}, "maxValues": {name: most}})}


def days(*numbers: int) -> list[date]:
    return [date.fromordinal(date(2026, 1, 1).toordinal() + number) for number in numbers]


CASES: dict[str, tuple[DataType, list[Any], list[dict[str, Any]], bool]] = {
    "few of many numbers": (IntegerType(), [1, 500], [file(1, 999)], True),
    "each number": (IntegerType(), [1, 2, 3, None], [file(1, 3)], False),
    "numbers all over": (IntegerType(), list(range(0, 1000, 10)), [file(5, 985)], False),
    "numbers at the ends": (IntegerType(), [*range(50), *range(950, 1000)], [file(0, 999)], True),
    "numbers of another file": (IntegerType(), list(range(100)), [file(0, 99), file(100, 999, rows=90)], True),
    "most rows in their file": (IntegerType(), list(range(100)), [file(0, 99, rows=90), file(100, 999)], False),
    "days all over": (DateType(), days(*range(MANY)), [file("2026-01-02", "2026-01-30")], False),
    "days of another year": (DateType(), days(*range(MANY)), [file("2025-01-01", "2025-12-31")], True),
    "decimals all over": (DecimalType(9, 1), DECIMALS, [file(0.5, 30)], False),
    "few decimals": (DecimalType(9, 1), DECIMALS[:9], [file(0, 4)], True),
    "texts all over": (StringType(), TEXTS, [file("k001", "k060")], False),
    "texts beyond": (StringType(), TEXTS, [file("k001", "zz")], True),
    "few texts": (StringType(), TEXTS[:9], [file("k000", "k008")], True),
    "no value but NULL": (IntegerType(), [None], [file(1, 3)], True),
    "statistics of another column": (IntegerType(), [1, 2, 3], [file(1, 3, "other")], True),
    "a name in other letters": (IntegerType(), [1, 2, 3], [file(1, 3, "ID")], False),
    "texts of numbers": (IntegerType(), [1, 2, 3], [file("1", "3")], True),
    "texts of days": (DateType(), days(*range(MANY)), [file("a day", "another")], True),
    "days after Python's": (DateType(), days(*range(MANY)), [file("2026-01-01", "+10000-01-01")], True),
    "a struct": (IntegerType(), [1, 2, 3], [file({"a": 1}, {"a": 3})], True),
    "no statistics": (IntegerType(), [1, 2, 3], [{}], True),
    "no files": (IntegerType(), [1, 2, 3], [], True),
}


@pytest.mark.parametrize("name", CASES)
def test_of_keys(name: str) -> None:
    kind, values, files, expected = CASES[name]
    assert narrows(Column(kind, tuple(values), has_null=None in values), "id", files) is expected


TENTH = list(range(0, 1000, 10))
SPARED: dict[str, tuple[DataType, list[Any] | None, list[dict[str, Any]], int]] = {
    "a tenth of the numbers": (IntegerType(), TENTH, [file(0, 999, rows=1000)], 900),
    "each number of a range": (IntegerType(), list(range(100)), [file(0, 999, rows=1000)], 0),
    "a half of a range": (IntegerType(), [*range(0, 200, 2), *range(-99, 0)], [file(0, 999, rows=1000)], 99),
    "numbers of another file": (IntegerType(), list(range(0, 200, 2)), [file(0, 199), file(200, 299, rows=90)], 5),
    "below zero": (IntegerType(), list(range(-1000, 0, 10)), [file(-1000, -1, rows=500)], 450),
    "days": (DateType(), days(*TENTH), [file("2026-01-01", "2028-09-26", rows=1000)], 900),
    "more keys than numbers": (IntegerType(), list(range(MANY)), [file(5, 9)], 0),
    "few numbers": (IntegerType(), TENTH[:LISTED], [file(0, 999, rows=1000)], 0),
    "NULL among them": (IntegerType(), [*TENTH, None], [file(0, 999, rows=1000)], 0),
    "unknown": (IntegerType(), None, [file(0, 999, rows=1000)], 0),
    "texts": (StringType(), TEXTS, [file("k000", "k999", rows=1000)], 0),
    "decimals": (DecimalType(9, 1), DECIMALS, [file(0, 999, rows=1000)], 0),
    "statistics of another column": (IntegerType(), TENTH, [file(0, 999, "other")], 0),
    "no files": (IntegerType(), TENTH, [], 0),
}


@pytest.mark.parametrize("name", SPARED)
def test_rows_that_a_set_spares(name: str) -> None:
    kind, values, files, expected = SPARED[name]
    key = Column(kind, None if values is None else tuple(values), has_null=None in (values or ()))
    assert spared(key, "ID", files) == expected
