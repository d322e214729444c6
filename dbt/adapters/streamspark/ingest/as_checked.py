"""Whatever a sender gives as rows, checked: a sequence of mappings, an Arrow table or batch, a pandas frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo
from typing import Any

import pyarrow as pa

from dbt.adapters.streamspark.ingest.checked_rows import CheckedRows, checked_rows
from dbt.adapters.streamspark.ingest.checked_table import checked_table
from dbt.adapters.streamspark.ingest.columns import Column
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError


def as_checked(columns: Sequence[Column], rows: Any, zone: tzinfo) -> CheckedRows:
    """Raises StreamingIngestError (InvalidArgument) for what is no collection of rows.

    In a pandas frame NaN, NaT and NA are nulls, as pyarrow has it.
    """
    if isinstance(rows, pa.RecordBatch):
        return checked_table(columns, pa.Table.from_batches([rows]), zone)
    if isinstance(rows, pa.Table):
        return checked_table(columns, rows, zone)
    if hasattr(rows, "to_dict") and hasattr(rows, "columns"):
        return _checked_frame(columns, rows, zone)
    if isinstance(rows, (Mapping, str, bytes)) or not isinstance(rows, Iterable):
        raise StreamingIngestError(
            "InvalidArgument",
            f"rows are a list of mappings, an Arrow table or batch, or a pandas frame, not a {type(rows).__name__}; "
            "append_row takes a single one.",
        )
    return checked_rows(columns, rows if isinstance(rows, Sequence) else list(rows), zone)


def _checked_frame(columns: Sequence[Column], frame: Any, zone: tzinfo) -> CheckedRows:
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError):  # a column of values of several types
        nulls = frame.isna().to_numpy()
        records = frame.to_dict("records")
        for row, absent in zip(records, nulls, strict=True):
            row.update((name, None) for name, null in zip(frame.columns, absent, strict=True) if null)
        return checked_rows(columns, records, zone)
    return checked_table(columns, table, zone)
