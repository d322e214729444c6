"""Arrow tables, checked against the columns of their table before anything is written: whole columns at a time where
Arrow's cast gives just what is meant, else value by value as in rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as of

from dbt.adapters.streamspark.ingest.checked_rows import CheckedRows, fitting
from dbt.adapters.streamspark.ingest.column_names import ColumnNames
from dbt.adapters.streamspark.ingest.column_values import column_values, sized
from dbt.adapters.streamspark.ingest.columns import Column
from dbt.adapters.streamspark.ingest.row_problems import RowProblems

_CASTS = (
    (of.is_integer, of.is_integer),
    (of.is_integer, of.is_decimal),
    (of.is_integer, of.is_float64),
    (of.is_decimal, of.is_decimal),
    (of.is_floating, of.is_float64),
    (of.is_large_string, of.is_string),
    (of.is_large_binary, of.is_binary),
    (of.is_fixed_size_binary, of.is_binary),
)


def checked_table(columns: Sequence[Column], table: pa.Table, zone: tzinfo) -> CheckedRows:
    """Columns of the Arrow table are found by name, in any case. `zone` is that of times which name none."""
    problems, names = RowProblems(), ColumnNames(columns)
    found = _by_name(names, table, problems)
    arrays = [_array(column, found.get(column.name), table.num_rows, zone, problems) for column in columns]
    return fitting(columns, arrays, table.num_rows, problems, lambda index: table.slice(index, 1).to_pylist()[0])


def _by_name(names: ColumnNames, table: pa.Table, problems: RowProblems) -> dict[str, pa.ChunkedArray]:
    found: dict[str, pa.ChunkedArray] = {}
    for position, name in enumerate(table.column_names):
        known = names.canonical(name)
        if known is None:
            _each(table.num_rows, partial(problems.extra_column, name=name))
        elif known in found:
            _each(table.num_rows, partial(problems.bad_value, why="given twice", column=known))
        else:
            found[known] = table.column(position)
    return found


def _each(count: int, tell: Any) -> None:
    for index in range(count):
        tell(index)


def _array(column: Column, given: pa.ChunkedArray | None, count: int, zone: tzinfo, problems: RowProblems) -> pa.Array:
    if given is None:
        if not column.nullable:
            _each(count, partial(problems.missing_column, name=column.name))
        return pa.nulls(count, column.arrow)
    if not column.nullable and given.null_count:
        for index in pc.indices_nonzero(given.is_null()).to_pylist():
            problems.null_value(index, column.name)
    report = partial(problems.bad_value, column=column.name)
    whole = _cast(column, given.combine_chunks())
    return column_values(column, given.to_pylist(), zone, report) if whole is None else sized(column, whole, report)


def _cast(column: Column, given: Any) -> pa.Array | None:
    """The whole column at once; None where single values have to be looked at."""
    if of.is_nested(column.arrow) or isinstance(given, pa.ChunkedArray):  # too large to be one array
        return None
    if given.type == column.arrow:
        return given
    if not _same_time(column, given) and not any(old(given.type) and new(column.arrow) for old, new in _CASTS):
        return None
    try:
        return given.cast(column.arrow)
    except pa.ArrowInvalid:
        return None


def _same_time(column: Column, array: pa.Array) -> bool:
    """Both name a time zone, or neither does: then they mean the same, in whatever unit."""
    both = of.is_timestamp(array.type) and of.is_timestamp(column.arrow)
    return both and (array.type.tz is None) == (column.arrow.tz is None)
