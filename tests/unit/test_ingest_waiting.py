"""Rows that wait: the memory that they are counted with is what they take, and flushes are divided in order."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.streamspark.ingest.channel_buffer import SMALL_CALLS, ChannelBuffer
from dbt.adapters.streamspark.ingest.channel_state import ChannelState
from dbt.adapters.streamspark.ingest.flush_portions import flush_portions
from dbt.adapters.streamspark.ingest.waiting_rows import WaitingRows

MEMORY = Path("/proc/self/statm")
MEGABYTE = 1024 * 1024


def some(*numbers: int, token: str | None = None, time: float = 0.0) -> WaitingRows:
    return WaitingRows(pa.record_batch({"n": pa.array(numbers, pa.int64())}), token, (time,))


def numbers(waiting: list[WaitingRows]) -> list[int]:
    return [number for one in waiting for number in one.rows.column("n").to_pylist()]


def test_many_small_calls_become_one_batch() -> None:
    buffer, count = ChannelBuffer(ChannelState("a")), 3 * SMALL_CALLS + 1
    given_back = sum(buffer.add(some(n, token=str(n) if n % 2 else None, time=n)) for n in range(count))
    assert numbers(buffer.waiting) == list(range(count)) and len(buffer.waiting) == 4
    assert buffer.waiting_bytes == sum(one.size for one in buffer.waiting) == count * some(1).size - given_back
    taken = buffer.take()
    state = buffer.with_rows(taken, 200.0, 1)
    assert (state.offset_token, state.rows_inserted, taken[0].since) == (str(count - 2), count, 0)
    buffer.committed(state, taken, 200.0)
    assert buffer.latency == 200 - (count - 1) / 2
    assert buffer.waiting_bytes == 0 and buffer.add(some(1)) == 0


def test_calls_without_rows_keep_their_token() -> None:
    buffer = ChannelBuffer(ChannelState("a"))
    for number in range(SMALL_CALLS):
        buffer.add(some(token=str(number)))
    state = buffer.with_rows(buffer.take(), 0.0, 1)
    assert (state.offset_token, state.rows_inserted) == (str(SMALL_CALLS - 1), 0)


def test_a_large_call_ends_a_run_of_small_ones() -> None:
    buffer = ChannelBuffer(ChannelState("a"))
    for number in range(SMALL_CALLS - 1):
        buffer.add(some(number))
    buffer.add(some(*range(1000)))
    buffer.add(some(1))
    assert len(buffer.waiting) == SMALL_CALLS + 1


@pytest.mark.skipif(not MEMORY.exists(), reason="only Linux tells a process's memory here")
def test_single_rows_take_the_memory_that_is_counted() -> None:
    """A batch for each row takes a hundred times what its values do."""
    buffer = ChannelBuffer(ChannelState("a"))
    before = resident()
    for number in range(40_000):
        row = pa.RecordBatch.from_arrays([pa.array([number])] * 8, names=list("abcdefgh"))
        buffer.add(WaitingRows(row, str(number), (0.0,)))
    assert resident() - before < buffer.waiting_bytes + 10 * MEGABYTE
    assert buffer.waiting_bytes < 15 * MEGABYTE


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(MEMORY.read_text().split()[1]) * 4096


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 300)), max_size=8), min_size=1, max_size=4),
    st.integers(1, 20_000),
)
def test_portions(channels: list[list[tuple[int, int]]], limit: int) -> None:
    """Each channel's calls are in their order, whatever its clock said, and no portion is over the limit."""
    made = [[some(*range(rows), time=time) for time, rows in calls] for calls in channels]
    waiting = [(ChannelBuffer(ChannelState(str(n))), calls) for n, calls in enumerate(made)]
    portions = flush_portions(waiting, limit)
    for buffer, calls in waiting:
        found = [one for portion in portions for other, rows in portion if other is buffer for one in rows]
        assert [id(one) for one in found] == [id(one) for one in calls]
    for portion in portions:
        parts = [one for _, rows in portion for one in rows]
        assert parts and (sum(one.size for one in parts) <= limit or len(parts) == 1)
