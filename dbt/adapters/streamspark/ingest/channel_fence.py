"""Whether the channels that a client has open are still its own, by the commits since it last looked."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dbt.adapters.streamspark.changes.log import Commit
from dbt.adapters.streamspark.changes.rewinds import REWINDS
from dbt.adapters.streamspark.errors import StaleSource
from dbt.adapters.streamspark.ingest.channel_buffer import ChannelBuffer
from dbt.adapters.streamspark.ingest.channel_state import read_state
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.ingest.landing_table import LandingTable, layout_of

Fail = Callable[[ChannelBuffer, StreamingIngestError], None]
AGAIN = "Open the channel again and go on from its committed token."


class ChannelFence:
    """`outdated`: the table's columns are others now, so that rows have to be checked anew."""

    def __init__(self, landing: LandingTable):
        self._landing = landing
        self._known = landing.log.version
        self._table_id = landing.log.table_id
        self.outdated = False

    def look(self, buffers: Iterable[ChannelBuffer], fail: Fail) -> None:
        """Brings the log to the newest version, and fails the channels that are no longer this client's."""
        log, open_ones = self._landing.log.refresh(), list(buffers)
        if log.table_id != self._table_id or log.version < self._known:
            self._fail_all(open_ones, fail, "was made again")
            return
        for version in range(self._known + 1, log.version + 1):
            try:
                self._look_at(log.commit(version), open_ones, fail)
            except StaleSource:  # the client slept for longer than the log is kept
                self._fail_all(open_ones, fail, f"no longer has the commit of version {version} in its log")
        self._known = log.version

    def _look_at(self, commit: Commit, buffers: list[ChannelBuffer], fail: Fail) -> None:
        if commit.operation in REWINDS:
            self._fail_all(buffers, fail, f"was taken to another state ({commit.operation}, version {commit.version})")
        elif commit.metadata is not None and layout_of(commit.metadata) != self._landing.layout:
            self._fail_all(buffers, fail, f"has another schema since its version {commit.version}")
        for buffer in buffers:
            why = _lost(commit, buffer)
            if why is not None:
                fail(buffer, self._error(f"channel {buffer.name} of table {self._landing.name} {why}"))

    def _fail_all(self, buffers: list[ChannelBuffer], fail: Fail, why: str) -> None:
        self.outdated = True
        for buffer in buffers:
            fail(buffer, self._error(f"channel {buffer.name}: table {self._landing.name} {why}"))

    def _error(self, found: str) -> StreamingIngestError:
        return StreamingIngestError("InvalidChannelError", f"{found}. Rows not yet committed are gone. {AGAIN}")


def _lost(commit: Commit, buffer: ChannelBuffer) -> str | None:
    domain = buffer.state.domain
    if domain in commit.removed_domains:
        return "was dropped"
    if domain not in commit.domains:
        return None
    state = read_state(domain, commit.domains[domain])
    return None if state.handle == buffer.state.handle else f"was opened again, by client {state.client}"
