"""The end of an interval, pinned once per dbt invocation and base table."""

from __future__ import annotations

from threading import Lock

from dbt.adapters.streamspark.steps import step


class Pins:
    """Every consumer in one dbt run reads a base table up to the same version: the first one asked for.

    A consumer whose cursor is already past the pin (another run went further) has nothing to read:
    its interval is empty, with the cursor as its end.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._versions: dict[tuple[str, str], int] = {}

    def pin(self, invocation: str, table_id: str, version: int) -> int:
        """The version pinned for this table in this invocation; `version` becomes it when there is none."""
        step("pin")
        with self._lock:
            return self._versions.setdefault((invocation, table_id), version)
