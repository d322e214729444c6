"""Bindings become typed literals: what dbt-spark turned into floats, 'None' and syntax errors."""

from __future__ import annotations

import uuid
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from dbt.adapters.streamspark.literals import bind, literal


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (-(2**31), "-2147483648"),
        (2**31, "2147483648L"),
        (2**63, "cast(9223372036854775808BD as decimal(19,0))"),
        (1.5, "1.5D"),
        (float("nan"), "cast('NaN' as double)"),
        (float("-inf"), "cast('-Infinity' as double)"),
        (Decimal("12345678901234567890.12"), "cast(12345678901234567890.12BD as decimal(22,2))"),
        (Decimal("0.001"), "cast(0.001BD as decimal(3,3))"),
        (Decimal("1E+3"), "cast(1000BD as decimal(4,0))"),
        (Decimal("NaN"), "cast('NaN' as double)"),
        ("it's", "'it\\'s'"),
        ("a\\b", "'a\\\\b'"),
        ("100%", "'100%'"),
        (b"\x00\xff", "X'00ff'"),
        (date(2026, 3, 1), "date'2026-03-01'"),
        (datetime(2026, 3, 1, 12, 0, 0, 5), "timestamp'2026-03-01 12:00:00.000005'"),
        (datetime(2026, 3, 1, tzinfo=timezone.utc), "timestamp'2026-03-01 00:00:00+00:00'"),
        (time(23, 59), "'23:59:00'"),
        (uuid.UUID(int=1), "'00000000-0000-0000-0000-000000000001'"),
    ],
)
def test_literal(value: Any, sql: str) -> None:
    assert literal(value) == sql


@pytest.mark.parametrize("value", [object(), [1], {"a": 1}, timedelta(days=1)])
def test_a_value_without_a_literal_is_named(value: Any) -> None:
    with pytest.raises(TypeError, match=type(value).__name__):
        literal(value)


def test_a_decimal_too_long_for_spark_is_not_cut() -> None:
    with pytest.raises(ValueError, match="39 digits"):
        literal(Decimal("1" * 39))


@pytest.mark.parametrize(
    ("sql", "values", "bound"),
    [
        ("select %s, %s", [1, None], "select 1, null"),
        ("select 'a%b', 5 % 2, %s", ["x"], "select 'a%b', 5 % 2, 'x'"),
        ("select '%s', \"%s\", `%s`, %s", [1], "select '%s', \"%s\", `%s`, 1"),
        ("select %s -- %s\n, %s /* %s */", [1, 2], "select 1 -- %s\n, 2 /* %s */"),
        (r"select 'it\'s %s', %s", [1], r"select 'it\'s %s', 1"),
        ("select %s", ["%s"], "select '%s'"),
        ("select 5 % 2", [], "select 5 % 2"),
    ],
)
def test_bind(sql: str, values: list[Any], bound: str) -> None:
    assert bind(sql, values) == bound


@pytest.mark.parametrize("values", [[], [1], [1, 2, 3]])
def test_placeholders_and_values_must_agree(values: list[Any]) -> None:
    with pytest.raises(ValueError, match="2 placeholders"):
        bind("select %s, %s", values)
