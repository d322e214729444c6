"""Rows that wait for a flush, as they came in one call or in several small ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

COLUMN_BYTES = 1024  # what Arrow and Python keep of each column of a batch, however few rows it has (0.6 to 1 KB seen)


@dataclass(frozen=True)
class WaitingRows:
    """`token` is that of the last call which gave one; `times` is when each call came (seconds since 1970)."""

    rows: pa.RecordBatch
    token: str | None
    times: tuple[float, ...]

    @property
    def since(self) -> float:
        return self.times[0]

    @property
    def size(self) -> int:
        """Bytes of memory."""
        return int(self.rows.nbytes) + COLUMN_BYTES * (self.rows.num_columns + 1)


def joined(parts: Sequence[WaitingRows]) -> WaitingRows:
    """The rows of several calls of a channel, in order, as one batch."""
    tokens = [part.token for part in parts if part.token is not None]
    times = tuple(time for part in parts for time in part.times)
    return WaitingRows(_one_batch([part.rows for part in parts]), tokens[-1] if tokens else None, times)


def _one_batch(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    found = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return found[0] if found else batches[0]  # no rows at all
