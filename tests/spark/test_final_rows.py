"""The predicate of immutable_where, put into other SQL."""

from __future__ import annotations

from datetime import datetime, timezone

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.final_rows import final_rows


def test_functions_stay_as_they_are_written(spark: SparkSession) -> None:
    """Of parse_json() the parser would leave the text."""
    text = "variant_get(parse_json(s), '$.n', 'int') < 5 and d < date_sub(current_date(), 3)"
    final = final_rows(spark, text, ["s", "d"], datetime(2026, 1, 5, tzinfo=timezone.utc))
    rows = """values ('{"n": 4}', date'2026-01-01'), ('{"n": 4}', date'2026-01-02'), ('{"n": 5}', date'2020-01-01')"""
    assert [row.d.day for row in spark.sql(f"select * from {rows} t(s, d) where {final.has()}").collect()] == [1]
