"""A column's values as an Arrow array: in bulk where pyarrow reads them just as they are meant, else one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timezone, tzinfo
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as t

from dbt.adapters.streamspark.ingest.columns import Column
from dbt.adapters.streamspark.ingest.converters import converter

Report = Callable[[int, str], None]
_INTEGERS: set[type] = {int, type(None)}
_BULK: dict[type, set[type]] = {
    t.ByteType: _INTEGERS,
    t.ShortType: _INTEGERS,
    t.IntegerType: _INTEGERS,
    t.LongType: _INTEGERS,
    t.DoubleType: {float, int, type(None)},
    t.DecimalType: {Decimal, int, type(None)},
    t.BooleanType: {bool, type(None)},
    t.StringType: {str, type(None)},
    t.BinaryType: {bytes, type(None)},
    t.DateType: {date, type(None)},
    t.TimestampType: {datetime, type(None)},
    t.TimestampNTZType: {datetime, type(None)},
}
_REFUSED = (pa.ArrowException, OverflowError, UnicodeEncodeError, TypeError, ValueError)


def column_values(column: Column, values: Sequence[Any], zone: tzinfo, report: Report) -> pa.Array:
    """`values` in the column's type; one that does not fit becomes null and is told to `report` with its index.
    Nulls are not checked here. `zone` is that of times which name none."""
    if set(map(type, values)) <= _BULK.get(type(column.kind), set()):
        try:
            return sized(column, _bulk(column, _timed(column, values, zone)), report)
        except _REFUSED:
            pass  # one of them does not fit; which one is found below
    return sized(column, _one_by_one(column, values, zone, report), report)


def _bulk(column: Column, values: Sequence[Any]) -> pa.Array:
    """pyarrow takes a decimal of very many digits after the point for 0, where it refuses one of some more than fit."""
    array = pa.array(values, column.arrow)
    if isinstance(column.kind, t.DecimalType) and array.to_pylist() != list(values):
        raise ValueError("a decimal that does not fit")
    return array


def _timed(column: Column, values: Sequence[Any], zone: tzinfo) -> Sequence[Any]:
    """pyarrow takes a time without a zone for UTC, and turns one with a zone into UTC."""
    if isinstance(column.kind, t.TimestampNTZType):
        return [value and value.replace(tzinfo=None) for value in values]
    if isinstance(column.kind, t.TimestampType) and zone is not timezone.utc:
        return [value.replace(tzinfo=zone) if value and value.tzinfo is None else value for value in values]
    return values


def _one_by_one(column: Column, values: Sequence[Any], zone: tzinfo, report: Report) -> pa.Array:
    convert, found = converter(column.kind, zone), []
    assert convert is not None  # columns.py refuses such a table
    for index, value in enumerate(values):
        try:
            found.append(None if value is None else pa.scalar(convert(value), column.arrow))
        except _REFUSED as error:
            report(index, str(error))
            found.append(None)
    return pa.array(found, column.arrow)


def sized(column: Column, array: pa.Array, report: Report) -> pa.Array:
    """A char padded to its length; texts that are longer than the column told."""
    if column.length is None:
        return array
    too_long = pc.greater(pc.utf8_length(array), column.length)
    if pc.any(too_long).as_py():
        for index in pc.indices_nonzero(too_long).to_pylist():
            found = len(array[index].as_py())
            report(index, f"{found} characters, and the column holds {column.length}")
        array = pc.if_else(too_long, pa.scalar(None, column.arrow), array)
    return pc.utf8_rpad(array, column.length) if column.padded else array
