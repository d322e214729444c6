"""The client of an application that sends rows: it opens channels, and writes what they are sent."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.ingest.channel import OnError, StreamingIngestChannel, zone_named
from dbt.adapters.streamspark.ingest.channel_status import ChannelStatus, channel_status
from dbt.adapters.streamspark.ingest.flush_thread import FlushThread
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.ingest.ingest_options import IngestOptions
from dbt.adapters.streamspark.ingest.landing_table import landing_table
from dbt.adapters.streamspark.ingest.memory_bound import MemoryBound
from dbt.adapters.streamspark.ingest.rows_frame import writing_session
from dbt.adapters.streamspark.ingest.table_channels import Clock, TableChannels


class StreamingIngestClient:
    """One Delta commit per table and flush, whatever the number of channels. To be used in a `with`, or closed.

    `client_name` is told to whoever opens one of its channels elsewhere. `table` is where channels land that name no
    table. `options` are IngestOptions, or their fields by name. Every method may be called by any thread.

    Raises StreamingIngestError, as every method does; the codes are in ingest_error.py.
    """

    def __init__(
        self,
        spark: SparkSession,
        client_name: str,
        table: str | None = None,
        *,
        clock: Clock = time.time,
        **options: Any,
    ):
        self.client_name, self.table = client_name, table
        self.options = IngestOptions(**options)
        self._spark, self._clock = spark, clock
        self._memory = MemoryBound(self.options)
        self._tables: dict[str, tuple[TableChannels, FlushThread]] = {}
        self._lock = threading.RLock()
        self._closed = False

    def __enter__(self) -> StreamingIngestClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # channels

    def open_channel(
        self,
        channel_name: str,
        offset_token: str | None = None,
        *,
        table: str | None = None,
        on_error: OnError = "abort",
        default_timezone: str | None = None,
    ) -> tuple[StreamingIngestChannel, ChannelStatus]:
        """Opens a channel, a new one or one that was opened before; whoever has it open can write no more. The status
        holds the committed token to go on from, or `offset_token`, which takes its place.

        `on_error`: `continue` takes the rows that fit, `skip_batch` none of a call with a row that does not, `abort`
        raises then. `default_timezone`: that of times without one (default: the session's).
        """
        channels = self.open_channels(
            [channel_name], offset_token, table=table, on_error=on_error, default_timezone=default_timezone
        )
        channel = channels[channel_name]
        return channel, channel.get_channel_status()

    def open_channels(
        self,
        channel_names: Collection[str],
        offset_token: str | None = None,
        *,
        table: str | None = None,
        on_error: OnError = "abort",
        default_timezone: str | None = None,
    ) -> dict[str, StreamingIngestChannel]:
        """The same for many channels of one table in one commit: channel name -> channel."""
        _check_names(channel_names)
        zone = zone_named(default_timezone or str(self._spark.conf.get("spark.sql.session.timeZone")))
        channels, thread = self._of_table(table)
        buffers = channels.open(channel_names, offset_token)
        make = StreamingIngestChannel
        return {name: make(channels, thread, buffer, on_error, zone, self._clock) for name, buffer in buffers.items()}

    def drop_channel(self, channel_name: str, *, table: str | None = None) -> None:
        """Drops a channel with its token; whoever has it open can write no more. Raises ChannelNotFound."""
        channels, _ = self._of_table(table)
        self._stored(channels, [channel_name])
        channels.drop([channel_name])

    def get_latest_committed_offset_tokens(
        self, channel_names: Collection[str], *, table: str | None = None
    ) -> dict[str, str | None]:
        """Channel name -> token, from the table itself. Raises ChannelNotFound."""
        channels, _ = self._of_table(table)
        return {name: state.offset_token for name, state in self._stored(channels, channel_names).items()}

    def get_channel_statuses(
        self, channel_names: Collection[str], *, table: str | None = None
    ) -> dict[str, ChannelStatus]:
        """Channel name -> status, from the table itself. Raises ChannelNotFound."""
        channels, _ = self._of_table(table)
        stored, now = self._stored(channels, channel_names), self._clock()
        return {name: channel_status(channels.landing.name, state, now) for name, state in stored.items()}

    def _stored(self, channels: TableChannels, names: Collection[str]) -> dict[str, Any]:
        stored = channels.stored()
        missing = [name for name in names if name not in stored]
        if missing:
            raise StreamingIngestError(
                "ChannelNotFound",
                f"table {channels.landing.name} has no channel {', '.join(missing)}: never opened, dropped, or idle "
                "for 30 days.",
            )
        return {name: stored[name] for name in names}

    # flushes

    def initiate_flush(self) -> None:
        """Asks for a flush of all channels, and does not wait for it."""
        for _, thread in self._open_tables():
            thread.ask()

    def wait_for_flush(self, timeout_seconds: float | None = None) -> None:
        """Flushes all channels. Raises ChannelWaitForFlushTimeout; what a flush fails with is told by its channels."""
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        for channels, thread in self._open_tables():
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not thread.wait(left):
                raise StreamingIngestError(
                    "ChannelWaitForFlushTimeout",
                    f"table {channels.landing.name}: rows are not written after {timeout_seconds} seconds.",
                )

    def close(self, wait_for_flush: bool = True, timeout_seconds: float | None = None) -> None:
        """Flushes, unless `wait_for_flush` is False, and closes all channels. A second time it does nothing.

        Raises what a flush has failed with, after all is closed.
        """
        if self._closed:
            return
        try:
            if wait_for_flush:
                self.wait_for_flush(timeout_seconds)
        finally:
            failures = [failure for channels, thread in self._open_tables() for failure in _closed(channels, thread)]
            self._closed = True
        if failures and wait_for_flush:
            raise failures[0]

    def is_closed(self) -> bool:
        return self._closed

    # tables

    def _open_tables(self) -> list[tuple[TableChannels, FlushThread]]:
        with self._lock:
            return list(self._tables.values())

    def _of_table(self, table: str | None) -> tuple[TableChannels, FlushThread]:
        name = table or self.table
        if self._closed:
            raise StreamingIngestError("ClosedClientError", f"client {self.client_name} is closed: make another one.")
        if name is None:
            raise StreamingIngestError("InvalidArgument", "say which table, here or when the client is made.")
        with self._lock:
            known = self._tables.get(name)
            if known is not None and known[0].outdated():
                _closed(*known)
                known = None
            if known is None:
                landing = landing_table(writing_session(self._spark), name)
                channels = TableChannels(landing, self.client_name, self._memory, self._clock)
                known = self._tables[name] = (channels, FlushThread(channels, self.options, self._clock))
            return known


def _closed(channels: TableChannels, thread: FlushThread) -> list[StreamingIngestError]:
    """Ends both, and gives what channels have failed with."""
    thread.stop()
    channels.end()
    buffers = dict(channels.buffers)
    for name, buffer in buffers.items():
        channels.close(name, buffer)
    return [buffer.failure for buffer in buffers.values() if buffer.failure is not None]


def _check_names(names: Collection[str]) -> None:
    bad = [name for name in names if not isinstance(name, str) or not name]
    if bad or isinstance(names, str):
        raise StreamingIngestError("InvalidArgument", f"a channel's name is a text that is not empty, not {bad!r}.")
