"""A point in the history of one or several tables: one version per base table (SIGMOD 2023 paper, section 3.3)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any


@dataclass(frozen=True)
class TableVersion:
    """One base table at one version. `commit` identifies the commit, so that a table dropped and made
    again under the same name is not taken for the old one."""

    table_id: str
    name: str
    version: int
    commit: str = ""


@dataclass(frozen=True)
class Frontier(Mapping[str, int]):
    """Maps table id -> version, with the time at which it was taken. Immutable; equal by tables.

    >>> f = Frontier.of(TableVersion("id1", "db.t", 4, "c"), timestamp=datetime(2026, 1, 1, tzinfo=timezone.utc))
    >>> f["id1"], Frontier.from_json(f.to_json()) == f
    (4, True)
    """

    tables: tuple[TableVersion, ...]
    timestamp: datetime = field(compare=False, default_factory=lambda: datetime.now(timezone.utc))

    @classmethod
    def of(cls, *tables: TableVersion, timestamp: datetime | None = None) -> Frontier:
        return cls(tables, timestamp or datetime.now(timezone.utc))

    def __getitem__(self, table_id: str) -> int:
        return self.table(table_id).version

    def __iter__(self) -> Iterator[str]:
        return (table.table_id for table in self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def table(self, table_id: str) -> TableVersion:
        """The entry of one table. Raises KeyError."""
        for table in self.tables:
            if table.table_id == table_id:
                return table
        raise KeyError(table_id)

    def entry(self, table_id: str, name: str) -> TableVersion | None:
        """The entry of a table by its id or, as CREATE OR REPLACE gives a new one, by its name; None for none."""
        by_id = (table for table in self.tables if table.table_id == table_id)
        by_name = (table for table in self.tables if table.name == name)
        return next(by_id, None) or next(by_name, None)

    def to_dict(self) -> dict[str, Any]:
        return {
            "tables": {t.table_id: {"name": t.name, "version": t.version, "commit": t.commit} for t in self.tables},
            "timestamp": self.timestamp.isoformat(),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), sort_keys=True)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Frontier:
        tables = tuple(TableVersion(table_id, **entry) for table_id, entry in data["tables"].items())
        return cls(tables, datetime.fromisoformat(data["timestamp"]))

    @classmethod
    def from_json(cls, text: str) -> Frontier:
        return cls.from_dict(json.loads(text))
