"""How much memory the rows of a client may take until they are committed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.ingest.ingest_options import IngestOptions

LOOK_SECONDS = 0.1  # a failed writer is seen that soon


class MemoryBound:
    """Bytes in use by the rows of all channels, at most `options.max_buffered_bytes`."""

    def __init__(self, options: IngestOptions):
        self._options = options
        self._changed = threading.Condition()
        self.used = 0
        self.most_used = 0

    @property
    def flush_bytes(self) -> int:
        return self._options.flush_bytes

    def take(self, size: int, check: Callable[[], None], hurry: Callable[[], None]) -> None:
        """Waits for room where the options say so. `check` raises what ends the waiting, such as a failed writer;
        `hurry` asks for a flush that makes room.

        Raises StreamingIngestError: MemoryThresholdExceeded for rows that never fit, ReceiverSaturated.
        """
        limit = self._options.max_buffered_bytes
        if size > limit:
            raise StreamingIngestError(
                "MemoryThresholdExceeded",
                f"the rows of one call take {size} bytes, and max_buffered_bytes is {limit}: send fewer at a time.",
            )
        while not self._taken(size):
            check()
            hurry()
            if self._options.when_full == "raise":
                raise StreamingIngestError(
                    "ReceiverSaturated",
                    f"{self.used} of max_buffered_bytes ({limit}) wait to be committed: send these rows again later.",
                )
            with self._changed:
                self._changed.wait(timeout=LOOK_SECONDS)

    def _taken(self, size: int) -> bool:
        with self._changed:
            if self.used + size > self._options.max_buffered_bytes:
                return False
            self.used += size
            self.most_used = max(self.most_used, self.used)
            return True

    def give_back(self, size: int) -> None:
        with self._changed:
            self.used -= size
            self._changed.notify_all()
