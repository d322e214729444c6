"""Tests of change sets say so where the run of a row cannot be told, rather than take two runs for one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.types import StructType
from sqlglot import parse_one

from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.consume import change_checks as checks
from dbt.adapters.streamspark.errors import InvalidQuery


def rows(dialect: str, run: str | None = None, tracked: bool = False, per_commit: bool = False) -> checks.ChangeRows:
    schema = StructType().add("id", "integer")
    for name in DIALECTS[dialect].names:
        schema = schema.add(name, "string")
    spark: Any = SimpleNamespace(sql=lambda query: SimpleNamespace(schema=schema))
    return checks.change_rows(spark, "db.log", run, tracked, per_commit)


COMMIT = "struct(`_commit_timestamp`, `_commit_version`)"
BY_TRACKING = "_metadata.row_commit_version"


@pytest.mark.parametrize(
    ("dialect", "options", "told"),
    [
        ("delta", {}, COMMIT),
        ("delta", {"tracked": True}, BY_TRACKING),
        ("delta", {"tracked": True, "per_commit": True}, f"struct({BY_TRACKING}, {COMMIT})"),
        ("delta", {"run": "day", "tracked": True}, "day"),
        ("snowflake", {"tracked": True}, BY_TRACKING),
        ("snowflake", {}, None),
        ("snowflake", {"tracked": True, "per_commit": True}, None),
        ("snowflake", {"run": "day", "per_commit": True}, "day"),
        ("singdata", {"tracked": True}, BY_TRACKING),
        ("singdata", {}, None),  # its __commit_version is another one on each half of an update
    ],
)
def test_by_what_a_run_is_told(dialect: str, options: dict[str, Any], told: str | None) -> None:
    assert rows(dialect, **options).run == told


def test_columns_that_were_left_out_tell_nothing() -> None:
    kept = StructType().add("id", "integer").add("_change_type", "string").add("_commit_version", "long")
    spark: Any = SimpleNamespace(sql=lambda query: SimpleNamespace(schema=kept))
    assert checks.change_rows(spark, "db.log", None, False, False).run == "struct(`_commit_version`)"


@pytest.mark.parametrize("dialect", ["snowflake", "singdata"])
def test_tests_that_need_runs_are_an_error_without(dialect: str) -> None:
    needing = [lambda found: checks.applies_cleanly(found, None), lambda found: checks.change_volume(found, 0, None)]
    if DIALECTS[dialect].row_id:
        needing.append(checks.valid_change_set)
    for test in needing:
        parse_one(test(rows(dialect, run="day")), dialect="spark")
        with pytest.raises(InvalidQuery, match=r"db\.log: which rows came in one run .* cannot be told.*`run`"):
            test(rows(dialect))


def test_rows_without_ids_are_valid_whatever_their_run() -> None:
    parse_one(checks.valid_change_set(rows("singdata")), dialect="spark")
    equals = checks.equals(rows("singdata"), "db.log", StructType().add("id", "integer"), "select 1 as id", None)
    parse_one(equals, dialect="spark")
