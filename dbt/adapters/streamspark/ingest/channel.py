"""One channel as an application has it open: rows go in with offset tokens, in order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timezone, tzinfo
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dbt.adapters.streamspark.ingest.as_checked import as_checked
from dbt.adapters.streamspark.ingest.channel_buffer import ChannelBuffer
from dbt.adapters.streamspark.ingest.channel_status import SUCCESS, ChannelStatus, channel_status
from dbt.adapters.streamspark.ingest.checked_rows import CheckedRows
from dbt.adapters.streamspark.ingest.flush_thread import FlushThread
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.ingest.insert_result import InsertError, InsertValidationResponse
from dbt.adapters.streamspark.ingest.table_channels import Clock, TableChannels

OnError = Literal["continue", "skip_batch", "abort"]
ON_ERROR = ("continue", "skip_batch", "abort")


class StreamingIngestChannel:
    """Made by StreamingIngestClient.open_channel. Every method may be called by any thread; the order of rows is that
    of the calls. Each raises StreamingIngestError where the channel is closed (ClosedChannelError), was opened
    elsewhere or dropped (InvalidChannelError), or could not be written (WriterFailed)."""

    def __init__(
        self,
        channels: TableChannels,
        thread: FlushThread,
        buffer: ChannelBuffer,
        on_error: OnError,
        zone: tzinfo,
        clock: Clock,
    ):
        if on_error not in ON_ERROR:
            raise StreamingIngestError(
                "InvalidArgument", f"on_error is {on_error!r}: it is one of {', '.join(ON_ERROR)}."
            )
        self._channels, self._thread, self._buffer = channels, thread, buffer
        self._on_error, self._zone, self._clock = on_error, zone, clock
        self._order = threading.Lock()

    def __enter__(self) -> StreamingIngestChannel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def channel_name(self) -> str:
        return self._buffer.name

    @property
    def table_name(self) -> str:
        return self._channels.landing.name

    # rows

    def insert_rows(
        self, rows: Any, start_offset_token: str | None = None, end_offset_token: str | None = None
    ) -> InsertValidationResponse:
        """Rows (mappings, an Arrow table or batch, a pandas frame) for the next flush. `end_offset_token` is the token
        that the last of them commits; `start_offset_token` that of the first, which is not kept.

        Where a row does not fit: see `on_error` of open_channel. Rows that are left out still move the token, and the
        rows of a batch that is skipped do not. Waits for memory, or raises ReceiverSaturated.
        """
        with self._order:
            self._buffer.check()
            checked = as_checked(self._channels.landing.columns, rows, self._zone)
            if checked.errors and self._on_error == "abort":
                raise _refused(self.table_name, checked.errors[0])
            if checked.errors and self._on_error == "skip_batch":
                self._channels.skip(self._buffer, checked, end_offset_token)
                return InsertValidationResponse(checked.errors)
            self._append(checked, end_offset_token)
            return InsertValidationResponse(checked.errors, checked.good.num_rows)

    def insert_row(self, row: Any, offset_token: str | None = None) -> InsertValidationResponse:
        """The same for a single row."""
        return self.insert_rows([row], offset_token, offset_token)

    append_rows = insert_rows
    append_row = insert_row

    def _append(self, checked: CheckedRows, token: str | None) -> None:
        if checked.parsed or token is not None:
            self._channels.append(self._buffer, checked, token, self._ask)

    def _ask(self) -> None:
        self._thread.ask()

    # tokens

    def get_latest_committed_offset_token(self) -> str | None:
        """The token of the newest rows that are committed; None where none ever was."""
        self._check_failure()
        return self._buffer.state.offset_token

    def wait_for_commit(
        self, token_checker: Callable[[str | None], bool], timeout_seconds: float | None = None
    ) -> None:
        """Waits until `token_checker` holds of the committed token. Rows are committed many at a time, so it should
        ask for a token that is there or is passed. Raises TimeoutError."""

        def reached() -> bool:
            self._check_failure()
            return token_checker(self._buffer.state.offset_token)

        with self._channels.changed:
            if not self._channels.changed.wait_for(reached, timeout_seconds):
                raise TimeoutError(
                    f"channel {self.channel_name}: after {timeout_seconds} seconds the committed token is "
                    f"{self._buffer.state.offset_token!r}."
                )

    def get_channel_status(self) -> ChannelStatus:
        """Told of a channel that has failed, too: `status_code` is then the error's code."""
        with self._channels.changed:
            failure, state = self._buffer.failure, self._buffer.state
            code = SUCCESS if failure is None else failure.error_code
            return channel_status(self.table_name, state, self._clock(), code, self._buffer.latency)

    def is_valid(self) -> bool:
        return self._buffer.failure is None

    def _check_failure(self) -> None:
        if self._buffer.failure is not None:
            self._buffer.check()

    # flush and close

    def initiate_flush(self) -> None:
        """Asks for a flush, and does not wait for it. It is one of all the client's channels on the table."""
        self._buffer.check()
        self._thread.ask()

    def wait_for_flush(self, timeout_seconds: float | None = None) -> None:
        """Flushes. Raises ChannelWaitForFlushTimeout, or what the flush has failed with."""
        self._buffer.check()
        if not self._thread.wait(timeout_seconds):
            raise StreamingIngestError(
                "ChannelWaitForFlushTimeout",
                f"channel {self.channel_name}: rows are not written after {timeout_seconds} seconds.",
            )
        self._check_failure()

    flush = wait_for_flush

    def close(self, drop: bool = False, wait_for_flush: bool = True, timeout_seconds: float | None = None) -> None:
        """Flushes, unless `wait_for_flush` is False, and takes no more rows; with `drop`, the channel and its token are
        gone then. A second time it does nothing. Raises what the flush fails with, after all is closed."""
        if self._buffer.closed:
            return
        try:
            if wait_for_flush:
                self.wait_for_flush(timeout_seconds)
            if drop:
                self._check_failure()
                self._channels.drop([self.channel_name])
        finally:
            self._channels.close(self.channel_name, self._buffer)

    def is_closed(self) -> bool:
        return self._buffer.closed


def zone_named(name: str) -> tzinfo:
    """Raises StreamingIngestError (InvalidArgument) for a name that no time zone has."""
    if name.upper() in ("UTC", "Z", "ETC/UTC"):
        return timezone.utc
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise StreamingIngestError(
            "InvalidArgument", f"default_timezone is {name!r}: say a name such as Europe/Paris, or UTC."
        ) from None


def _refused(table: str, error: InsertError) -> StreamingIngestError:
    return StreamingIngestError(
        "InvalidRow",
        f"table {table}: row {error.row_index} does not fit, so none of the call's rows were taken: {error.message}.",
    )
