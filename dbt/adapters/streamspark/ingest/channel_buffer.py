"""One opening of a channel: the rows that wait for the next flush, and what is known to be committed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dbt.adapters.streamspark.ingest.channel_state import ChannelState
from dbt.adapters.streamspark.ingest.checked_rows import CheckedRows
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.ingest.waiting_rows import WaitingRows, joined

SMALL_ROWS, SMALL_CALLS = 100, 50  # that many calls of fewer rows become one batch


@dataclass
class ChannelBuffer:
    """`state` is what is committed. `failure` is why this opening takes no more rows; its rows are gone then.
    Everything is read and written under the writer's lock."""

    state: ChannelState
    waiting: list[WaitingRows] = field(default_factory=list)
    waiting_bytes: int = 0
    small_calls: int = 0
    failure: StreamingIngestError | None = None
    closed: bool = False
    calls: int = 0
    latency_sum: float = 0.0

    @property
    def name(self) -> str:
        return self.state.name

    @property
    def latency(self) -> float | None:
        return self.latency_sum / self.calls if self.calls else None

    def check(self) -> None:
        """Raises StreamingIngestError where the channel takes no more rows."""
        if self.failure is not None:
            raise StreamingIngestError(self.failure.error_code, self.failure.message) from self.failure
        if self.closed:
            raise StreamingIngestError(
                "ClosedChannelError", f"channel {self.name} is closed: open it again to send more rows."
            )

    def count(self, checked: CheckedRows, token: str | None, now: float) -> None:
        """Rows that were looked at, and the last one that did not fit: told to others at the next commit."""
        counted = replace(
            self.state,
            rows_parsed=self.state.rows_parsed + checked.parsed,
            rows_error=self.state.rows_error + len(checked.errors),
        )
        if checked.errors:
            last = checked.errors[-1].without_values
            counted = replace(counted, last_error_message=last, last_error_token=token, last_error_on=now)
        self.state = counted

    def add(self, rows: WaitingRows) -> int:
        """Gives the bytes that are free again: a batch of its own for each row would take a hundred times the row's."""
        self.waiting.append(rows)
        self.waiting_bytes += rows.size
        self.small_calls = self.small_calls + 1 if rows.rows.num_rows < SMALL_ROWS else 0
        return self._join_small() if self.small_calls == SMALL_CALLS else 0

    def _join_small(self) -> int:
        parts = self.waiting[-SMALL_CALLS:]
        self.waiting[-SMALL_CALLS:] = [joined(parts)]
        self.small_calls = 0
        saved = sum(part.size for part in parts) - self.waiting[-1].size
        self.waiting_bytes -= saved
        return saved

    def take(self) -> list[WaitingRows]:
        taken, self.waiting, self.waiting_bytes, self.small_calls = self.waiting, [], 0, 0
        return taken

    def let_go(self) -> int:
        """Forgets the rows that wait, and gives their bytes."""
        return sum(one.size for one in self.take())

    def with_rows(self, taken: Sequence[WaitingRows], now: float, seen: int) -> ChannelState:
        """The state that a commit of these rows brings about."""
        tokens = [one.token for one in taken if one.token is not None]
        return replace(
            self.state,
            offset_token=tokens[-1] if tokens else self.state.offset_token,
            row_sequencer=self.state.row_sequencer + 1,
            rows_inserted=self.state.rows_inserted + sum(one.rows.num_rows for one in taken),
            active_on=now,
            seen=seen,
        )

    def committed(self, state: ChannelState, taken: Sequence[WaitingRows], now: float) -> None:
        """Counts that went on in the meantime stay."""
        self.state = replace(
            self.state,
            offset_token=state.offset_token,
            row_sequencer=state.row_sequencer,
            rows_inserted=state.rows_inserted,
            active_on=state.active_on,
            seen=state.seen,
        )
        waits = [now - time for one in taken for time in one.times]
        self.calls += len(waits)
        self.latency_sum += sum(waits)
