"""Until when the changes after an offset can be read: told by what its base tables keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.file_changes import file_changes
from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import Action, Commit, TableLog
from dbt.adapters.streamspark.changes.marked_rows import has_vector_file, vector_file
from dbt.adapters.streamspark.errors import BrokenSource, InvalidQuery, StaleSource
from dbt.adapters.streamspark.streams.retention import FILE_RETENTION, LOG_RETENTION, retention
from dbt.adapters.streamspark.streams.source import open_table


@dataclass(frozen=True)
class Freshness:
    """`stale_after` is when a base table may drop what the offset needs, in UTC; None where it did already, and
    `reason` says what."""

    stale_after: datetime | None
    reason: str = ""

    @property
    def stale(self) -> bool:
        """Expected to be: files and log may be there for some time after."""
        return self.stale_after is None or self.stale_after <= datetime.now(timezone.utc)


def freshness(spark: SparkSession, stream: str, point: Frontier, mode: str = "standard") -> Freshness:
    """Of an offset in the base tables of `stream`. Reads the commits since; runs no Spark job."""
    try:
        soonest = readable_until(spark, stream, point, mode)
    except (StaleSource, BrokenSource, InvalidQuery) as error:
        return Freshness(None, str(error))
    past = soonest <= datetime.now(timezone.utc)
    return Freshness(soonest, "its base tables may drop what it needs at any time" if past else "")


def readable_until(spark: SparkSession, stream: str, point: Frontier, mode: str = "standard") -> datetime:
    """The same time. Raises StaleSource where something that is needed is gone already, BrokenSource, InvalidQuery."""
    times = [_stale_after(spark, stream, table, point, mode) for table in point.tables]
    return min(times, default=datetime.max.replace(tzinfo=timezone.utc))


def _stale_after(spark: SparkSession, stream: str, table: TableVersion, point: Frontier, mode: str) -> datetime:
    """The log is kept from the commit on, a file from its removal on; a file may be removed now."""
    log = open_table(spark, stream, table, point.timestamp)
    kept = {name: timedelta(milliseconds=value) for name, value in retention(log).items()}
    log_ends = log.commit(table.version).timestamp + kept[LOG_RETENTION]
    first = first_removal(needed_removed(log.commits(table.version, log.version), mode))
    if first is not None:
        _check_there(log, first)
    removed = datetime.now(timezone.utc) if first is None else removal_time(first)
    return min(log_ends, removed + kept[FILE_RETENTION])


def needed_removed(commits: Sequence[Commit], mode: str) -> list[Action]:
    """Files that reading the commits' changes needs, and that are in the table no more: those of the start, and those
    of which the deletion vector is; or in a mode of inserts only those that were added since."""
    if mode == "standard":
        changed = file_changes(commits)
        return [*changed.old, *(old for old, _ in changed.remarked if has_vector_file(old))]
    came = {path for commit in commits for path in _only([a for a in commit.adds if a["dataChange"]], commit.removes)}
    return [
        action
        for commit in commits
        for action in commit.removes
        if action["path"] in came and action["path"] in _only(commit.removes, commit.adds)
    ]


def _only(actions: Sequence[Action], others: Sequence[Action]) -> set[str]:
    """The files of `actions` that `others` do not name: where both do, rows of a file were marked as deleted."""
    return {action["path"] for action in actions} - {action["path"] for action in others}


def first_removal(removed: Sequence[Action]) -> Action | None:
    """VACUUM takes what was removed first before anything else."""
    return min(removed, key=removal_time, default=None)


def removal_time(action: Action) -> datetime:
    return datetime.fromtimestamp(int(action.get("deletionTimestamp") or 0) / 1000, tz=timezone.utc)


def _check_there(log: TableLog, action: Action) -> None:
    """The file and its deletion vector: one that another took the place of goes without its file."""
    files = (log._jvm.org.apache.hadoop.fs.Path(log.path, unquote(action["path"])), vector_file(log, action))
    for file in files:
        if file is not None and not file.getFileSystem(log._hadoop_conf).exists(file):
            raise StaleSource(
                f"table {log.name}: a file that the changes need is gone ({file.getName()}), most likely by VACUUM"
            )
