"""Ranges of keys that Spark finds are those that the driver finds of keys which it holds."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.differentiate import local_rows
from dbt.adapters.streamspark.changes.differentiate.keys import known_columns
from dbt.adapters.streamspark.changes.differentiate.local_rows import keep

NUMBERS = "select if(id % 3 = 0, id, if(id % 3 = 1, id + 100000, id - 5000)) as id from range(300)"
KEYS = {
    "bigint": NUMBERS,
    "decimal": f"select cast(id as decimal(38, 4)) / 7 as id from ({NUMBERS})",
    "date": f"select date_add(date'2026-01-01', cast(id as int)) as id from ({NUMBERS})",
    "string": f"select concat('k', id) as id from ({NUMBERS})",
    "the ends of bigint": "select (id - 100) * 92233720368547758 as id from range(201)",
}


@pytest.mark.parametrize("null", ["", " union all select null"])
@pytest.mark.parametrize("kind", KEYS)
def test_ranges(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, kind: str, null: str) -> None:
    frame = spark.sql(f"{KEYS[kind]}{null}")
    held = keep(frame)
    monkeypatch.setattr(local_rows, "MOST_ROWS", 2)
    many = keep(frame)
    assert held.is_small and not many.is_small and held.count == many.count
    (small,), (large,) = known_columns(held), known_columns(many)
    assert large.values is None
    assert large.test("k") == small.test("k") is not None


def test_of_keys_that_are_all_null(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_rows, "MOST_ROWS", 2)
    (column,) = known_columns(keep(spark.sql("select cast(null as int) as id from range(9)")))
    assert column.test("k") == "(k is null)"
