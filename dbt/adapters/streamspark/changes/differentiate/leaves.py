"""Base tables as a change query reads them: what changed, and their rows at either end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.differentiate.snapshots import snapshot
from dbt.adapters.streamspark.changes.file_changes import ADDED_ONLY, EMPTY
from dbt.adapters.streamspark.changes.initial_rows import initial_rows
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.projection import Projection, quoted
from dbt.adapters.streamspark.changes.query.base_tables import BaseTable
from dbt.adapters.streamspark.changes.readers.append_only import append_only, inserted_files
from dbt.adapters.streamspark.changes.readers.endpoint_diff import endpoint_diff

ROW_ID = "__streamspark_row_id"  # beside the table's own columns, whatever those are called


class Leaf:
    """One base table over an interval; an interval without a start is that of a table which was empty before. `scans`:
    how often the query reads it by a rule.

    Raises BrokenSource when row tracking was off.
    """

    def __init__(self, table: BaseTable, interval: Interval, scans: int = 1):
        interval.check_tracking()
        self.scans = scans
        self.table = table
        self.interval = interval

    def of(self, columns: Collection[str], scans: int) -> Leaf:
        """The same, reduced to some of its columns."""
        pairs = tuple((name, quoted(name)) for name in self.interval.schemas.columns if name in columns)
        interval = replace(self.interval, projection=Projection(pairs))
        for known in ("commits", "files", "schemas"):  # read from the log once
            interval.__dict__[known] = getattr(self.interval, known)
        return Leaf(self.table, interval, scans)

    @property
    def shape(self) -> str:
        return self.interval.shape

    def shape_of(self, appended: bool) -> str:
        """The shape; of inserts only, with `appended`, there are but two."""
        if not appended or self.interval.start is None:
            return self.shape
        return EMPTY if self.is_empty(appended) else ADDED_ONLY

    @property
    def columns(self) -> list[str]:
        return [name for name, _ in self.interval.data_columns]

    def is_empty(self, appended: bool) -> bool:
        """No row came or went; `appended`: none was inserted."""
        if self.interval.start is None:
            return False
        return not inserted_files(self.interval.commits) if appended else self.shape == EMPTY

    def changes(self, appended: bool) -> DataFrame:
        """Internal change rows (metadata_columns.py), `__data` holding the columns."""
        if self.interval.start is None:
            return initial_rows(self.interval, tracked=True)
        return append_only(self.interval) if appended else endpoint_diff(self.interval)

    def rows(self, at_end: bool) -> DataFrame:
        """The rows at one end, in the end's columns and types, and ROW_ID."""
        version = self.interval.end if at_end else self.interval.start
        frame = self._nothing() if version is None else snapshot(self.interval, version)
        columns = [quoted(name) for name in self.columns]
        return frame.selectExpr(*columns, f"cast(_metadata.row_id as string) as {ROW_ID}")

    def no_rows(self) -> DataFrame:
        """The columns of `rows`, without reading or listing anything."""
        return self._nothing().selectExpr(*(quoted(name) for name in self.columns), f"'' as {ROW_ID}")

    def stand_in(self) -> DataFrame:
        """The table as it is at the end, without rows."""
        return self._nothing().selectExpr(*(quoted(name) for name in self.interval.schemas.columns))

    def _nothing(self) -> DataFrame:
        return self.interval.schemas.frame([], self.interval.end)
