"""Options, the bound of memory, and the texts in which a table keeps a channel."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from dbt.adapters.streamspark.ingest.channel_state import ChannelState, read_state
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.ingest.ingest_options import IngestOptions
from dbt.adapters.streamspark.ingest.memory_bound import MemoryBound


@pytest.mark.parametrize(
    ("lag", "seconds"),
    [(1, 1), (600, 600), ("30 seconds", 30), ("500 ms", 0.5), ("2 minutes", 120), ("1s", 1), ("10 m", 600), ("5", 5)],
)
def test_lags(lag: Any, seconds: float) -> None:
    assert IngestOptions(max_client_lag=lag).lag == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_client_lag": 0}, "max_client_lag is 0: it is from 0.1 to 600 seconds"),
        ({"max_client_lag": 601}, "max_client_lag is 601: it is from 0.1 to 600 seconds"),
        ({"max_client_lag": "11 minutes"}, "max_client_lag is 11 minutes: it is from"),
        ({"max_client_lag": "soon"}, "max_client_lag is 'soon': say seconds"),
        ({"flush_bytes": 0}, "flush_bytes"),
        ({"flush_bytes": 10, "max_buffered_bytes": 5}, "flush_bytes"),
        ({"when_full": "wait"}, "when_full is 'wait': it is 'block' or 'raise'"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], said: str) -> None:
    with pytest.raises(StreamingIngestError) as raised:
        IngestOptions(**options)
    assert raised.value.error_code == "InvalidArgument" and said in str(raised.value)


def nothing() -> None:
    pass


def bound(**options: Any) -> MemoryBound:
    return MemoryBound(IngestOptions(flush_bytes=10, max_buffered_bytes=10, **options))


def test_memory_is_bounded_by_raising() -> None:
    memory, asked = bound(when_full="raise"), threading.Event()
    memory.take(8, nothing, asked.set)
    assert not asked.is_set()
    with pytest.raises(StreamingIngestError, match="8 of max_buffered_bytes") as raised:
        memory.take(3, nothing, asked.set)
    assert asked.is_set()
    assert (raised.value.error_code, raised.value.http_status_code, memory.used) == ("ReceiverSaturated", 429, 8)
    memory.give_back(8)
    memory.take(10, nothing, nothing)
    with pytest.raises(StreamingIngestError, match="send fewer at a time") as raised:
        memory.take(11, nothing, nothing)
    assert raised.value.error_code == "MemoryThresholdExceeded" and memory.most_used == 10


def test_memory_is_bounded_by_waiting() -> None:
    memory, asked = bound(), threading.Event()
    memory.take(8, nothing, nothing)
    waiting = threading.Thread(target=memory.take, args=(3, nothing, asked.set))
    waiting.start()
    assert asked.wait(10) and waiting.is_alive() and memory.used == 8
    memory.give_back(8)
    waiting.join(10)
    assert not waiting.is_alive() and memory.used == 3


def test_waiting_for_memory_ends_with_the_writer() -> None:
    memory = bound()
    memory.take(8, nothing, nothing)

    def failed() -> None:
        raise StreamingIngestError("WriterFailed", "no")

    with pytest.raises(StreamingIngestError, match="no"):
        memory.take(3, failed, nothing)
    assert memory.used == 8


def test_states_come_back() -> None:
    state = ChannelState("ä b", "h", "c", 3, 4, "messages_1.log:20", 1.5, 2.5, 7, 10, 11, 1, "bad", "t", 2.0)
    assert read_state(state.domain, state.to_json()) == state
    with pytest.raises(StreamingIngestError, match="written by a later release"):
        read_state(state.domain, state.to_json().replace('"v": 1', '"v": 2'))
