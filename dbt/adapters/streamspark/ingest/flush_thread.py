"""The thread that flushes a table's channels: in time, when there is much, or when it is asked."""

from __future__ import annotations

import threading
import time

from dbt.adapters.streamspark.ingest.ingest_options import IngestOptions
from dbt.adapters.streamspark.ingest.table_channels import Clock, TableChannels

# So that many rows are seen before they take much more than `flush_bytes`.
LOOKS_PER_LAG = 20
LONGEST_LOOK_AWAY = 1.0  # seconds


class FlushThread:
    """Rows wait `options.lag` seconds at most, by `clock`."""

    def __init__(self, channels: TableChannels, options: IngestOptions, clock: Clock = time.time):
        self._channels, self._options, self._clock = channels, options, clock
        self._changed = channels.changed
        self._asked = self._done = 0
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=f"ingest {channels.landing.name}", daemon=True)
        self._thread.start()

    def ask(self) -> int:
        """Asks for a flush of what has come so far; gives the number of the asking."""
        with self._changed:
            self._asked += 1
            self._changed.notify_all()
            return self._asked

    def wait(self, timeout: float | None) -> bool:
        """Asks, and says whether what has come so far was flushed, or has failed, within `timeout` seconds."""
        number = self.ask()
        with self._changed:
            return self._changed.wait_for(lambda: self._done >= number or not self._thread.is_alive(), timeout)

    def stop(self) -> None:
        """Ends the thread after the flush that it is at."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or self._is_due(), max(0.0, self._patience()))
                if self._stopping:
                    return
                due, asked = self._is_due(), self._asked
            if due:
                self._channels.flush()
                self._finish(asked)

    def _finish(self, asked: int) -> None:
        with self._changed:
            self._done = asked
            self._changed.notify_all()

    def _is_due(self) -> bool:
        if self._asked > self._done or self._channels.waiting_bytes() >= self._options.flush_bytes:
            return True
        return self._patience() <= 0

    def _patience(self) -> float:
        """Seconds until rows that wait are due. Nobody tells of rows that come, so it is looked after them in time."""
        since, look = self._channels.waiting_since(), min(LONGEST_LOOK_AWAY, self._options.lag / LOOKS_PER_LAG)
        return look if since is None else min(look, since + self._options.lag - self._clock())
