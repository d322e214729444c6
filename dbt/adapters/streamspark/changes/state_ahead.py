"""What the next commit will ask of Delta, asked for while what it writes is planned or on its way (decision 0036)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dbt.adapters.streamspark.changes.log import TableLog

ROW_TRACKING = "rowTracking"


class StateAhead:
    """A commit to a table with row tracking takes the highest row id from the table's state, which Delta puts together
    by a Spark job for each version, once. That job takes longer than the commit itself, and there is a core for it
    meanwhile."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "state ahead")

    def read(self, log: TableLog, always: bool = False) -> None:
        """Begins to read the state of the version that `log` holds; `always`: without row tracking too, as Delta's own
        statements ask the state what was consumed. An error is left to the commit, which reads what is missing and
        fails with it."""
        snapshot = log.snapshot()
        if always or ROW_TRACKING in (json.loads(snapshot.protocol().json())["protocol"].get("writerFeatures") or []):
            self._pool.submit(_read, log, snapshot)

    def end(self) -> None:
        """Waits for it, so that Spark may be stopped."""
        self._pool.shutdown()


def _read(log: TableLog, snapshot: Any) -> None:
    log.activate_session()
    snapshot.domainMetadata()
