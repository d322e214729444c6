"""Rows against columns: what is taken and what it becomes, what is refused and how that is said."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyspark.sql import types as t

from dbt.adapters.streamspark.ingest.as_checked import as_checked
from dbt.adapters.streamspark.ingest.checked_rows import CheckedRows
from dbt.adapters.streamspark.ingest.columns import columns_of
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError

UTC = timezone.utc
PARIS = ZoneInfo("Europe/Paris")


def check(kind: t.DataType, value: Any, zone: Any = UTC, **metadata: Any) -> CheckedRows:
    schema = t.StructType([t.StructField("c", kind, True, metadata)])
    return as_checked(columns_of("t", schema), [{"c": value}], zone)


def taken(kind: t.DataType, value: Any, zone: Any = UTC, **metadata: Any) -> Any:
    checked = check(kind, value, zone, **metadata)
    assert checked.errors == ()
    return checked.good.column(0).to_pylist()[0]


NOON = datetime(2020, 7, 1, 12)
TAKEN = [
    (t.LongType(), 5, 5),
    (t.LongType(), "5", 5),
    (t.LongType(), 5.0, 5),
    (t.LongType(), Decimal("5.00"), 5),
    (t.LongType(), np.int32(5), 5),
    (t.LongType(), -(2**63), -(2**63)),
    (t.ByteType(), 127, 127),
    (t.DoubleType(), 1, 1.0),
    (t.DoubleType(), "1.5", 1.5),
    (t.DoubleType(), Decimal("1.5"), 1.5),
    (t.DoubleType(), 2**60 + 1, float(2**60)),
    (t.FloatType(), 1.5, 1.5),
    (t.DecimalType(5, 2), Decimal("123.4"), Decimal("123.40")),
    (t.DecimalType(5, 2), 0.1, Decimal("0.10")),
    (t.DecimalType(5, 2), "999.99", Decimal("999.99")),
    (t.DecimalType(5, 2), Decimal("1E+2"), Decimal("100.00")),
    (t.DecimalType(2, 2), Decimal("0.00"), Decimal("0.00")),
    (t.BooleanType(), True, True),
    (t.BooleanType(), "off", False),
    (t.BooleanType(), 2, True),
    (t.StringType(), "a", "a"),
    (t.StringType(), True, "true"),
    (t.StringType(), 1.5, "1.5"),
    (t.BinaryType(), b"\x01", b"\x01"),
    (t.BinaryType(), "01ff", b"\x01\xff"),
    (t.DateType(), date(2013, 4, 28), date(2013, 4, 28)),
    (t.DateType(), datetime(2013, 4, 28, 23), date(2013, 4, 28)),
    (t.DateType(), "2013-04-28", date(2013, 4, 28)),
    (t.DateType(), "2013-04-28T20:57:01.123456789+07:00", date(2013, 4, 28)),
    (t.DateType(), "1367182621", date(2013, 4, 28)),
    (t.TimestampType(), NOON, NOON.replace(tzinfo=UTC)),
    (t.TimestampType(), "2020-07-01T12:00", NOON.replace(tzinfo=UTC)),
    (t.TimestampType(), "2020-07-01T14:00:00+02:00", NOON.replace(tzinfo=UTC)),
    (t.TimestampType(), "2020-07-01", datetime(2020, 7, 1, tzinfo=UTC)),
    (t.TimestampType(), date(2020, 7, 1), datetime(2020, 7, 1, tzinfo=UTC)),
    (t.TimestampType(), "2020-07-01T12:00:00.5Z", NOON.replace(microsecond=500000, tzinfo=UTC)),
    (t.TimestampNTZType(), NOON, NOON),
    (t.TimestampNTZType(), NOON.replace(tzinfo=PARIS), NOON),
    (t.TimestampNTZType(), "2020-07-01T12:00+07:00", NOON),
    (t.ArrayType(t.IntegerType()), [1, "2", None], [1, 2, None]),
    (t.MapType(t.StringType(), t.IntegerType()), {"a": 1}, [("a", 1)]),
    (t.StructType([t.StructField("x", t.IntegerType())]), {"x": "1"}, {"x": 1}),
    (t.LongType(), None, None),
]


@pytest.mark.parametrize(("kind", "value", "wanted"), TAKEN, ids=lambda one: repr(one)[:40])
def test_taken(kind: t.DataType, value: Any, wanted: Any) -> None:
    assert taken(kind, value) == wanted


def test_times_without_a_zone_are_in_that_of_the_channel() -> None:
    wanted = datetime(2020, 7, 1, 10, tzinfo=UTC)
    array = t.ArrayType(t.TimestampType())
    assert taken(t.TimestampType(), NOON, PARIS) == wanted
    assert taken(t.TimestampType(), "2020-07-01 12:00", PARIS) == wanted
    assert taken(t.TimestampType(), NOON.replace(tzinfo=UTC), PARIS) == NOON.replace(tzinfo=UTC)
    assert taken(array, [NOON], PARIS) == [wanted]
    frame = pd.DataFrame({"c": [pd.Timestamp(NOON)]})
    columns = columns_of("t", t.StructType([t.StructField("c", t.TimestampType())]))
    assert as_checked(columns, frame, PARIS).good.column(0).to_pylist() == [wanted]


REFUSED = [
    (t.LongType(), "x", "'x' (str) is no integer of 64 bits"),
    (t.LongType(), 1.5, "1.5 (float) is no integer of 64 bits"),
    (t.LongType(), True, "True (bool) is no integer of 64 bits"),
    (t.LongType(), 2**63, "is no integer of 64 bits"),
    (t.LongType(), "1e999999", "is no integer of 64 bits"),
    (t.ByteType(), 128, "128 (int) is no integer of 8 bits"),
    (t.DoubleType(), "x", "'x' (str) is no number"),
    (t.DoubleType(), True, "True (bool) is no number"),
    (t.FloatType(), 1e300, "is no number of 32 bits"),
    (t.DecimalType(5, 2), Decimal("1.234"), "is no decimal(5,2)"),
    (t.DecimalType(5, 2), 1000, "1000 (int) is no decimal(5,2)"),
    (t.DecimalType(5, 2), Decimal("NaN"), "is no decimal(5,2)"),
    (t.BooleanType(), "maybe", "'maybe' (str) is no boolean"),
    (t.StringType(), ["a"], "['a'] (list) is no text"),
    (t.StringType(), "\ud800", "is no text that UTF-8 can hold"),
    (t.BinaryType(), "xyz", "is no bytes, nor their hexadecimal text"),
    (t.BinaryType(), 1, "is no bytes"),
    (t.DateType(), "yesterday", "'yesterday' (str) is no date"),
    (t.DateType(), 5, "5 (int) is no date"),
    (t.TimestampType(), 5, "5 (int) is no timestamp"),
    (t.TimestampType(), "2020-13-01", "is no timestamp"),
    (t.ArrayType(t.IntegerType(), False), [None], "element 0 is null, which its type forbids"),
    (t.ArrayType(t.IntegerType()), ["x"], "'x' (str) is no integer of 32 bits"),
    (t.ArrayType(t.IntegerType()), 5, "5 (int) is no array"),
    (t.MapType(t.StringType(), t.IntegerType()), 5, "5 (int) is no map"),
    (t.StructType([t.StructField("x", t.IntegerType())]), {"y": 1}, "the struct has no field y, only x"),
]


@pytest.mark.parametrize(("kind", "value", "said"), REFUSED, ids=lambda one: repr(one)[:40])
def test_refused(kind: t.DataType, value: Any, said: str) -> None:
    checked = check(kind, value)
    assert checked.good.num_rows == 0
    assert [error.row_index for error in checked.errors] == [0]
    assert checked.errors[0].message.startswith("column c: ") and said in checked.errors[0].message
    assert checked.errors[0].row_content == {"c": value}


def test_lengths() -> None:
    varchar = {"__CHAR_VARCHAR_TYPE_STRING": "varchar(3)"}
    char = {"__CHAR_VARCHAR_TYPE_STRING": "char(3)"}
    assert taken(t.StringType(), "äöü", **varchar) == "äöü"
    assert taken(t.StringType(), "a", **char) == "a  "
    assert (
        check(t.StringType(), "abcd", **varchar).errors[0].message == "column c: 4 characters, and the column holds 3"
    )
    assert check(t.StringType(), "abcd", **char).good.num_rows == 0


ROWS = columns_of(
    "t",
    t.StructType(
        [t.StructField("id", t.LongType(), False), t.StructField("v", t.StringType()), t.StructField("d", t.DateType())]
    ),
)


def test_each_bad_row_is_told() -> None:
    rows = [
        {"id": 1, "v": "a"},
        {"ID": 2, "V": "b"},
        {"v": "no id"},
        {"id": None},
        {"id": 3, "x": 1, "y": 2},
        ["no mapping"],
        {"id": "x", "d": "y"},
        {"id": 4, "Id": 5},
        {"id": 6},
    ]
    checked = as_checked(ROWS, rows, UTC)
    assert checked.good.column("id").to_pylist() == [1, 2, 6]
    assert checked.parsed == 9
    errors = {error.row_index: error for error in checked.errors}
    assert list(errors) == [2, 3, 4, 5, 6, 7]
    assert errors[2].missing_not_null_col_names == ("id",) and errors[2].row_content == {"v": "no id"}
    assert errors[2].message == "missing, and may not be null: id"
    assert errors[3].null_value_for_not_null_col_names == ("id",)
    assert errors[4].extra_col_names == ("x", "y") and errors[4].message == "the table has no column x, y"
    assert errors[5].message == "a row is a mapping of column names to values, not a list"
    assert "column id: 'x'" in errors[6].message and "column d: 'y'" in errors[6].message
    assert errors[7].message == "column id: given twice, in upper and in lower case"


def test_arrow_columns() -> None:
    table = pa.table({"id": pa.array([1, None, 3]), "V": pa.array([b"a", b"b", b"c"])})
    checked = as_checked(ROWS, table, UTC)
    assert checked.good.num_rows == 0  # bytes are no text
    assert [error.row_index for error in checked.errors] == [0, 1, 2]
    assert checked.errors[1].null_value_for_not_null_col_names == ("id",)
    extra = as_checked(ROWS, pa.table({"id": [1], "z": [1]}), UTC)
    assert extra.errors[0].extra_col_names == ("z",)
    assert as_checked(ROWS, pa.table({"v": ["a"]}), UTC).errors[0].missing_not_null_col_names == ("id",)
    mixed = as_checked(ROWS, pa.table({"id": ["1", "x"], "d": ["2020-01-01", "2020-01-02"]}), UTC)
    assert mixed.good.to_pylist() == [{"id": 1, "v": None, "d": date(2020, 1, 1)}]
    assert [error.row_index for error in mixed.errors] == [1]


def test_pandas_frames() -> None:
    frame = pd.DataFrame({"id": [1, 2, 3], "v": ["a", 5, None], "d": [date(2020, 1, 1), None, None]})
    checked = as_checked(ROWS, frame, UTC)
    assert checked.good.to_pydict() == {"id": [1, 2, 3], "v": ["a", "5", None], "d": [date(2020, 1, 1), None, None]}
    gaps = as_checked(ROWS, pd.DataFrame({"id": [1.0, float("nan")]}), UTC)
    assert gaps.good.column("id").to_pylist() == [1]
    assert gaps.errors[0].null_value_for_not_null_col_names == ("id",)


@pytest.mark.parametrize("rows", [{"id": 1}, "text", 5, None])
def test_no_rows_at_all(rows: Any) -> None:
    with pytest.raises(StreamingIngestError, match="rows are a list of mappings, an Arrow table or batch") as raised:
        as_checked(ROWS, rows, UTC)
    assert raised.value.error_code == "InvalidArgument"


@pytest.mark.parametrize(
    ("kind", "metadata", "said"),
    [
        (t.LongType(), {"delta.identity.start": 1}, "is an identity column"),
        (t.LongType(), {"delta.generationExpression": "1"}, "is a generated column"),
        (t.LongType(), {"CURRENT_DEFAULT": "5"}, "has the default 5"),
        (t.VariantType(), {}, "is of type variant"),
        (t.StringType("UNICODE"), {}, "has a collation"),
    ],
)
def test_columns_that_channels_do_not_fill(kind: t.DataType, metadata: dict[str, Any], said: str) -> None:
    with pytest.raises(StreamingIngestError, match=f"table t: column c {said}") as raised:
        columns_of("t", t.StructType([t.StructField("c", kind, True, metadata)]))
    assert raised.value.error_code == "UnsupportedTable"


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.decimals(),
    st.datetimes(),
    st.dates(),
    st.lists(st.integers(), max_size=2),
)
KINDS = [
    t.LongType(),
    t.ByteType(),
    t.DoubleType(),
    t.FloatType(),
    t.DecimalType(9, 3),
    t.BooleanType(),
    t.StringType(),
]
KINDS += [t.BinaryType(), t.DateType(), t.TimestampType(), t.TimestampNTZType(), t.ArrayType(t.IntegerType())]


@given(st.sampled_from(KINDS), st.lists(anything, max_size=6))
@example(t.DecimalType(9, 3), [False, Decimal("9.999999999999958220800E-21")])
def test_a_value_is_judged_the_same_alone_and_in_company(kind: t.DataType, values: list[Any]) -> None:
    """The bulk path and the path of single values agree, and no value is able to stop the others."""
    columns = columns_of("t", t.StructType([t.StructField("c", kind)]))
    together = as_checked(columns, [{"c": value} for value in values], UTC)
    alone = [as_checked(columns, [{"c": value}], UTC) for value in values]
    assert [error.row_index for error in together.errors] == [i for i, one in enumerate(alone) if one.errors]
    wanted = pa.concat_tables([pa.Table.from_batches([one.good]) for one in alone]) if alone else None
    if wanted is not None:
        assert str(pa.Table.from_batches([together.good]).to_pylist()) == str(wanted.to_pylist())


ARRAYS = [
    pa.array([1, None, 300], pa.int64()),
    pa.array([1, 2], pa.int32()),
    pa.array([2**60 + 1], pa.int64()),
    pa.array([1.0, 2.5, None], pa.float64()),
    pa.array([1.5], pa.float32()),
    pa.array([Decimal("1.50"), Decimal("2.125")]),
    pa.array([True, None]),
    pa.array(["a", "1", None], pa.large_string()),
    pa.array(["2020-01-01", "true"]).dictionary_encode(),
    pa.array([b"a", None], pa.large_binary()),
    pa.array([date(2020, 1, 1)]),
    pa.array([NOON], pa.timestamp("ms")),
    pa.array([NOON], pa.timestamp("us", "Europe/Paris")),
    pa.array([[1, 2], None]),
    pa.nulls(2),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda one: str(one.type))
@pytest.mark.parametrize("kind", KINDS, ids=lambda one: one.simpleString())
@pytest.mark.parametrize("zone", [UTC, PARIS], ids=["utc", "paris"])
def test_arrow_columns_are_judged_as_their_values_are(array: pa.Array, kind: t.DataType, zone: Any) -> None:
    columns = columns_of("t", t.StructType([t.StructField("c", kind)]))
    whole = as_checked(columns, pa.table({"c": array}), zone)
    single = as_checked(columns, [{"c": value} for value in array.to_pylist()], zone)
    assert [error.row_index for error in whole.errors] == [error.row_index for error in single.errors]
    assert str(whole.good.to_pylist()) == str(single.good.to_pylist())


@given(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), st.integers(-12 * 60, 12 * 60))
def test_iso_texts_come_back(when: datetime, minutes: int) -> None:
    aware = when.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert taken(t.TimestampType(), aware.isoformat()) == aware
    assert taken(t.TimestampNTZType(), aware.isoformat()) == when
