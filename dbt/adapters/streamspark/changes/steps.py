"""An interval cut into single commits, for the redo log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dbt.adapters.streamspark.changes.change_query import QueryInterval
from dbt.adapters.streamspark.changes.file_changes import changes_data
from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import Commit
from dbt.adapters.streamspark.changes.query.base_tables import BaseTable


@dataclass(frozen=True)
class Step:
    """The interval in which one base table, called `table`, moved by one commit, and that commit."""

    table: str
    interval: QueryInterval
    commit: Commit

    @property
    def version(self) -> int:
        return self.commit.version


def steps(interval: QueryInterval) -> Iterator[Step]:
    """The commits of all base tables that change data, in the order of their times."""
    assert interval.start is not None
    before = interval.start
    for table, commit in _commits(interval):
        after = _moved(before, table, commit)
        yield Step(table.name, replace(interval, start=before, end=after), commit)
        before = after


def _commits(interval: QueryInterval) -> list[tuple[BaseTable, Commit]]:
    found = [(leaf.table, commit) for leaf in interval.leaves.values() for commit in leaf.interval.commits]
    changing = [(table, commit) for table, commit in found if commit.metadata or changes_data(commit)]
    return sorted(changing, key=lambda pair: (pair[1].timestamp, pair[0].name, pair[1].version))


def _moved(before: Frontier, table: BaseTable, commit: Commit) -> Frontier:
    log = table.log
    new = TableVersion(log.table_id, log.name, commit.version, commit.identity)
    others = [entry for entry in before.tables if entry.table_id != log.table_id and entry.name != log.name]
    return Frontier.of(*others, new, timestamp=max(before.timestamp, commit.timestamp))
