"""Rows as a sender gives them, checked against the columns of their table before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from typing import Any

import pyarrow as pa

from dbt.adapters.streamspark.ingest.column_names import NOTHING, ColumnNames
from dbt.adapters.streamspark.ingest.column_values import column_values
from dbt.adapters.streamspark.ingest.columns import Column, arrow_schema
from dbt.adapters.streamspark.ingest.insert_result import InsertError
from dbt.adapters.streamspark.ingest.row_problems import RowProblems


@dataclass(frozen=True)
class CheckedRows:
    """`good` are the rows that fit, in their order, in the table's columns; `errors` tell of the others."""

    good: pa.RecordBatch
    errors: tuple[InsertError, ...]
    parsed: int


def checked_rows(columns: Sequence[Column], rows: Sequence[Any], zone: tzinfo) -> CheckedRows:
    """Rows are mappings of column names (in any case) to values. `zone` is that of times which name none."""
    problems, names = RowProblems(), ColumnNames(columns)
    named = [names.named(index, row, problems) for index, row in enumerate(rows)]
    arrays = [_array(column, named, zone, problems) for column in columns]
    return fitting(columns, arrays, len(rows), problems, rows.__getitem__)


def fitting(
    columns: Sequence[Column],
    arrays: Sequence[pa.Array],
    count: int,
    problems: RowProblems,
    row: Callable[[int], Any],
) -> CheckedRows:
    """The rows without a problem; `row` gives the row of an index as it was sent."""
    batch = pa.RecordBatch.from_arrays(list(arrays), schema=arrow_schema(columns))
    bad = set(problems.indexes())
    if not bad:
        return CheckedRows(batch, (), count)
    good = pa.array([index for index in range(count) if index not in bad], pa.int64())
    return CheckedRows(batch.take(good), problems.errors(row), count)


def _array(column: Column, rows: Sequence[Mapping[str, Any]], zone: tzinfo, problems: RowProblems) -> pa.Array:
    values = [row.get(column.name) for row in rows]
    if not column.nullable:
        for index in (index for index, value in enumerate(values) if value is None and rows[index] is not NOTHING):
            tell = problems.null_value if column.name in rows[index] else problems.missing_column
            tell(index, column.name)
    return column_values(column, values, zone, partial(problems.bad_value, column=column.name))
