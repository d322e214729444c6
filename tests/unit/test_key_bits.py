"""Numbers that stand for keys: never two for one key, and one for each key where keys are expected."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.streamspark.changes.log import Action
from dbt.adapters.streamspark.consume.columns import Column
from dbt.adapters.streamspark.consume.key_bits import key_bits

KEYS = [Column("a", "bigint"), Column("b", "tinyint")]
BIGINT = st.integers(-(2**63), 2**63 - 1)


def file(rows: int = 1, **ranges: tuple[object, object]) -> Action:
    least, most = ({name: bounds[end] for name, bounds in ranges.items()} for end in (0, 1))
    return {"stats": json.dumps({"numRecords": rows, "minValues": least, "maxValues": most})}


def number(sql: str, **key: int) -> int:
    """What Spark makes of the SQL."""
    python = re.sub(r"cast\((?:unix_date\()?`(\w)`\)? as bigint\)", r"key['\1']", sql)
    return int(eval(re.sub(r"(\d)L", r"\1", python), {"key": key, "shiftleft": lambda value, bits: value << bits}))


@given(st.integers(-(2**63), 2**63 - 2000), st.integers(-128, 120), st.integers(0, 900), st.integers(0, 7))
def test_each_key_where_they_are_expected_has_a_number_of_its_own(a: int, b: int, wide: int, broad: int) -> None:
    """From half a range below those that there are, to half of one above."""
    sql = key_bits(KEYS, [file(a=(a, a + wide), b=(b, b)), file(a=(a, a), b=(b, b + broad))])
    assert sql is not None
    some = range(a - wide // 2, a + wide + wide // 2 + 1, max(1, wide // 40))
    keys = [(one, other) for one in some for other in range(b - broad // 2, b + broad + broad // 2 + 1)]
    assert len({number(sql, a=one, b=other) for one, other in keys}) == len(keys)


@given(st.integers(0, 2**28 - 1), st.sampled_from([2**bit for bit in range(28)]), st.integers(1, 7))
def test_keys_far_above_the_old_have_numbers_of_their_own(a: int, bit: int, b: int) -> None:
    """There are six million rows, so that all 32 bits may be taken."""
    sql = key_bits(KEYS, [file(6_000_000, a=(1, 6_000_000), b=(1, 7))])
    assert sql is not None
    assert number(sql, a=a, b=b) != number(sql, a=a ^ bit, b=b)


@given(BIGINT, st.integers(-128, 127))
def test_any_key_has_a_number_that_a_bitmap_holds(a: int, b: int) -> None:
    sql = key_bits(KEYS, [file(2**24, a=(0, 2**29), b=(1, 1))])
    assert sql is not None and 0 <= number(sql, a=a, b=b) < 2**32


def test_days_are_numbers() -> None:
    sql = key_bits([Column("a", "date")], [file(a=("1969-12-30", "2026-11-24"))])
    assert sql == f"(cast(unix_date(`a`) as bigint) & {2**20 - 1}L)"


@pytest.mark.parametrize(
    ("keys", "files"),
    [
        ([Column("a", "string")], [file(a=("a", "b"))]),
        ([Column("a", "decimal(10,0)")], [file(a=(1, 2))]),
        (KEYS, []),
        (KEYS, [file(a=(1, 2), b=(1, 2)), file(a=(1, 2))]),  # of one file nobody knows
        (KEYS, [{"path": "without statistics"}]),
        (KEYS, [file(a=(1, 2), b=(None, None))]),
        (KEYS, [file(2**24, a=(0, 2**31), b=(0, 1))]),  # more bits than a bitmap is to have
        (KEYS, [file(2**27, a=(0, 2**26), b=(0, 1))]),  # more rows than fit into what tasks may send
        (KEYS, [file(1000, a=(0, 2**22), b=(0, 1))]),  # few rows in a wide range
        ([KEYS[0]], [file(2**13, a=(0, 2**24))]),
    ],
)
def test_where_there_are_none(keys: Sequence[Column], files: Sequence[Action]) -> None:
    assert key_bits(keys, files) is None
