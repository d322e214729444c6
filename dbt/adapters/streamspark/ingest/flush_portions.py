"""What waits in a client's channels, divided into commits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import merge

from dbt.adapters.streamspark.ingest.channel_buffer import ChannelBuffer
from dbt.adapters.streamspark.ingest.waiting_rows import WaitingRows

Taken = Sequence[tuple[ChannelBuffer, list[WaitingRows]]]


def flush_portions(waiting: Taken, limit: int) -> list[Taken]:
    """Portions of `limit` bytes at most, or of one call that takes more: the oldest rows first, and those of a channel
    in their order. A sender that is faster than the disk would otherwise make each flush larger than the one before."""
    portions: list[dict[int, list[WaitingRows]]] = []
    size = 0
    for place, rows in merge(*_placed(waiting), key=lambda one: one[1].since):
        size += rows.size
        if not portions or size > limit:
            portions.append(defaultdict(list))
            size = rows.size
        portions[-1][place].append(rows)
    return [[(waiting[place][0], rows) for place, rows in portion.items()] for portion in portions]


def _placed(waiting: Taken) -> Iterator[list[tuple[int, WaitingRows]]]:
    """The rows of each channel with its place in `waiting`."""
    return ([(place, one) for one in rows] for place, (_, rows) in enumerate(waiting))
