"""The channels that one client has open on one table, and the commits that they share."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from dbt.adapters.streamspark.changes.state_ahead import StateAhead
from dbt.adapters.streamspark.ingest.channel_buffer import ChannelBuffer
from dbt.adapters.streamspark.ingest.channel_fence import AGAIN, ChannelFence
from dbt.adapters.streamspark.ingest.channel_state import ChannelState
from dbt.adapters.streamspark.ingest.checked_rows import CheckedRows
from dbt.adapters.streamspark.ingest.commit_channels import commit_channels, flush_of
from dbt.adapters.streamspark.ingest.flush_portions import Taken, flush_portions
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.ingest.landing_table import LandingTable, keep_channels
from dbt.adapters.streamspark.ingest.memory_bound import MemoryBound
from dbt.adapters.streamspark.ingest.rows_frame import rows_frame
from dbt.adapters.streamspark.ingest.stored_channels import standing_channel, stored_channels
from dbt.adapters.streamspark.ingest.waiting_rows import WaitingRows
from dbt.adapters.streamspark.ingest.writer_failure import reported, writer_failure
from dbt.adapters.streamspark.spark_errors import is_conflict
from dbt.adapters.streamspark.steps import step

TRIES = 20  # another client that opens one of the channels just then costs a try, and so does one that drops it
Clock = Callable[[], float]
Change = tuple[dict[str, ChannelState], list[str]]


class TableChannels:
    """`changed` guards the buffers and is notified of whatever happens to them; it is held for moments. `_commits` is
    held while this client commits, so that a channel is not opened in the middle of its own flush."""

    def __init__(self, landing: LandingTable, client: str, memory: MemoryBound, clock: Clock):
        self.landing = landing
        self.buffers: dict[str, ChannelBuffer] = {}
        self.changed = threading.Condition(threading.RLock())
        self._client, self._memory, self._clock = client, memory, clock
        self._fence = ChannelFence(landing)
        self._commits = threading.Lock()
        self._ahead = StateAhead()

    def open(self, names: Collection[str], token: str | None = None) -> dict[str, ChannelBuffer]:
        """Opens channels in one commit, which fences whoever had them open. `token` takes the stored one's place.

        Raises StreamingIngestError.
        """
        with self._commits, reported(self.landing.name):
            keep_channels(self.landing.log)
            states, _ = self._commit_again(lambda: (self._openings(names, token), []))
            with self.changed:
                for name in names:
                    self._forget(name, "was opened again, by this client")
                    self.buffers[name] = ChannelBuffer(states[name])
                return {name: self.buffers[name] for name in names}

    def drop(self, names: Collection[str]) -> None:
        """Forgets channels and their tokens, whoever has them open; rows that wait are gone."""
        with self._commits, reported(self.landing.name):
            self._commit_again(lambda: ({}, list(names)))
            with self.changed:
                for name in names:
                    self._forget(name, "was dropped")

    def expire(self) -> list[str]:
        """Forgets the channels that were idle for 30 days, and gives their names."""
        with self._commits, reported(self.landing.name):
            _, expired = self._commit_again(lambda: ({}, self._expired()))
            return expired

    def _expired(self) -> list[str]:
        now = self._clock()
        return sorted(name for name, state in stored_channels(self.landing.log).items() if state.expired(now))

    def stored(self) -> dict[str, ChannelState]:
        """The table's channels as its newest commit has them, without those that have expired."""
        with self._commits, reported(self.landing.name):
            self._look()
            now = self._clock()
            return {name: one for name, one in stored_channels(self.landing.log).items() if not one.expired(now)}

    def outdated(self) -> bool:
        """Whether the table has other columns than when this object was made."""
        with self._commits, reported(self.landing.name):
            self._look()
            return self._fence.outdated

    def append(self, buffer: ChannelBuffer, checked: CheckedRows, token: str | None, hurry: Callable[[], None]) -> None:
        """Rows for the next flush. Waits for memory or raises where there is none; `hurry` asks for a flush."""
        rows = WaitingRows(checked.good, token, (self._clock(),))
        self._memory.take(rows.size, buffer.check, hurry)
        with self.changed:
            try:
                buffer.check()
            except StreamingIngestError:
                self._memory.give_back(rows.size)
                raise
            buffer.count(checked, token, rows.since)
            self._memory.give_back(buffer.add(rows))

    def skip(self, buffer: ChannelBuffer, checked: CheckedRows, token: str | None) -> None:
        """Counts rows that are not taken."""
        with self.changed:
            buffer.count(checked, token, self._clock())

    def waiting_bytes(self) -> int:
        with self.changed:
            return sum(buffer.waiting_bytes for buffer in self.buffers.values())

    def waiting_since(self) -> float | None:
        """When the oldest row that waits has come; None where none does."""
        with self.changed:
            return min((buffer.waiting[0].since for buffer in self.buffers.values() if buffer.waiting), default=None)

    def close(self, name: str, buffer: ChannelBuffer) -> None:
        """Lets go of rows that wait."""
        with self.changed:
            buffer.closed = True
            self._memory.give_back(buffer.let_go())
            if self.buffers.get(name) is buffer:
                del self.buffers[name]
            self.changed.notify_all()

    def end(self) -> None:
        """Takes part in nothing more."""
        self._ahead.end()

    def flush(self) -> None:
        """Commits what waits. An error is that of every channel then, and seen by its next call."""
        with self._commits:
            portions = self._take()
            held = sum(map(_bytes_of, portions))
            try:
                while portions:
                    size = _bytes_of(portions[0])
                    self._commit(portions.popleft())  # and nothing else holds the rows, whose memory is free then
                    held -= size
                    self._memory.give_back(size)
            except Exception as error:  # whatever it is, it must reach the application
                self._fail_all(error)
            finally:
                self._memory.give_back(held)

    def _take(self) -> deque[Taken]:
        with self.changed:
            waiting = [(buffer, buffer.take()) for buffer in self.buffers.values() if buffer.waiting]
        return deque(flush_portions(waiting, self._memory.flush_bytes))

    # what stands in a commit of channels that are opened

    def _openings(self, names: Collection[str], token: str | None) -> dict[str, ChannelState]:
        stored = stored_channels(self.landing.log)
        return {name: self._opening(name, stored.get(name), token) for name in names}

    def _opening(self, name: str, known: ChannelState | None, token: str | None) -> ChannelState:
        now, log = self._clock(), self.landing.log
        live = None if known is None or known.expired(now) else standing_channel(log, known)
        new = ChannelState(name, created_on=now, client_sequencer=known.client_sequencer if known else 0)
        opened = (live or new).opened(uuid4().hex, self._client, now, log.version)
        return opened if token is None else opened.with_token(token)

    def _commit_again(self, make: Callable[[], Change]) -> Change:
        """Commits the states and the dropped names that `make` gives for the newest version, until no other client was
        first."""
        for _ in range(TRIES):
            self._look()
            if self._fence.outdated:
                raise StreamingIngestError(
                    "InvalidChannelError", f"table {self.landing.name} was changed just now: open the channel again."
                )
            states, dropped = change = make()
            try:
                if states or dropped:
                    commit_channels(self.landing.log, list(states.values()), dropped=dropped)
                return change
            except PySparkException as error:
                if not is_conflict(error):
                    raise
        raise self._others_first()

    # the commit of a flush

    def _commit(self, taken: Taken) -> None:
        flush = uuid4().hex
        for _ in range(TRIES):
            self._look(buffer for buffer, _ in taken)
            live = [(buffer, rows) for buffer, rows in taken if buffer.failure is None]
            if not live:
                return
            now, seen = self._clock(), self.landing.log.version
            states = [buffer.with_rows(rows, now, seen) for buffer, rows in live]
            if self._landed(live, states, flush):
                return self._committed(live, states)
        raise self._others_first()

    def _landed(self, taken: Taken, states: Sequence[ChannelState], flush: str) -> bool:
        """False where another commit was first."""
        rows = [one.rows for _, waiting in taken for one in waiting if one.rows.num_rows]
        log = self.landing.log
        frame = rows_frame(log.spark, self.landing.schema, rows) if rows else None
        before = log.version
        try:
            commit_channels(log, states, frame, flush=flush)
        except (PySparkException, Py4JError) as error:
            if not is_conflict(error) and not self._is_there(before, flush):
                raise
            return not is_conflict(error)
        return True

    def _is_there(self, before: int, flush: str) -> bool:
        """Whether the commit is in the log in spite of an error."""
        log = self.landing.log.refresh()
        return any(flush_of(log.commit(version).info) == flush for version in range(before + 1, log.version + 1))

    def _committed(self, taken: Taken, states: Sequence[ChannelState]) -> None:
        now = self._clock()
        with self.changed:
            for (buffer, rows), state in zip(taken, states, strict=True):
                buffer.committed(state, rows, now)
            self.changed.notify_all()
        step("after_flush")
        self._ahead.read(self.landing.log.refresh())

    # failures

    def _look(self, written: Iterable[ChannelBuffer] = ()) -> None:
        """`written` are channels of a flush: one that was closed meanwhile can be opened elsewhere, too."""
        with self.changed:
            buffers = {id(buffer): buffer for buffer in (*self.buffers.values(), *written)}
        self._fence.look(buffers.values(), self._fail)

    def _forget(self, name: str, why: str) -> None:
        old = self.buffers.pop(name, None)
        if old is not None:
            said = f"channel {name} of table {self.landing.name} {why}. Rows not yet committed are gone. {AGAIN}"
            self._fail(old, StreamingIngestError("InvalidChannelError", said))

    def _fail(self, buffer: ChannelBuffer, error: StreamingIngestError) -> None:
        with self.changed:
            buffer.failure = buffer.failure or error
            self._memory.give_back(buffer.let_go())
            self.changed.notify_all()

    def _fail_all(self, error: Exception) -> None:
        failure = writer_failure(self.landing.name, error)
        with self.changed:
            for buffer in self.buffers.values():
                self._fail(buffer, failure)

    def _others_first(self) -> StreamingIngestError:
        return StreamingIngestError(
            "WriterFailed",
            f"table {self.landing.name}: other writers were first {TRIES} times. {AGAIN}",
        )


def _bytes_of(taken: Taken) -> int:
    return sum(one.size for _, rows in taken for one in rows)
