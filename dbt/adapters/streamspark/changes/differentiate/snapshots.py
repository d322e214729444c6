"""A table's rows at a past version.

Delta's own time travel rebuilds the version's state and lists its files in Spark jobs, each time. Of a table of few
files the list is kept by this process and carried from version to version by the commits between.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.file_changes import FileKey, file_key
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import Action, TableLog
from dbt.adapters.streamspark.errors import StaleSource

FEW_FILES = 200
MOST_COMMITS = 50
REMEMBERED = 256

Key = tuple[str, str, int]
Files = dict[FileKey, Action]

_lists: OrderedDict[Key, Files] = OrderedDict()
_lock = Lock()


def snapshot(interval: Interval, version: int) -> DataFrame:
    """The rows of `version` in the columns of the interval's end, with `_metadata`."""
    files = files_at(interval.log, version)
    if files is not None:
        return interval.schemas.frame(files, version)
    frame = interval.log.spark.read.format("delta").option("versionAsOf", version).load(interval.log.path)
    return frame.selectExpr(*interval.schemas.columns_at(version), "_metadata")


def files_at(log: TableLog, version: int) -> list[Action] | None:
    """The adds of a version's files; None where there are many of them."""
    found = _files(log, version)
    return None if found is None else list(found.values())


def _files(log: TableLog, version: int) -> Files | None:
    key = (log.path, log.table_id, version)
    with _lock:
        known = _lists[key] if key in _lists else _carried(log, key)
    if known is None:
        known = _listed(log, version)
    if known is None or len(known) > FEW_FILES:
        return None
    with _lock:
        _lists[key] = known
        _lists.move_to_end(key)
        while len(_lists) > REMEMBERED:
            _lists.popitem(last=False)
    return known


def _carried(log: TableLog, key: Key) -> Files | None:
    """The list of an earlier version and the commits since."""
    path, table_id, version = key
    earlier = [v for p, t, v in _lists if (p, t) == (path, table_id) and version - MOST_COMMITS <= v < version]
    if not earlier:
        return None
    files = dict(_lists[(path, table_id, max(earlier))])
    try:
        commits = log.commits(max(earlier), version)
    except StaleSource:
        return None
    for commit in commits:
        for action in commit.removes:
            files.pop(file_key(action), None)
        files |= {file_key(action): action for action in commit.adds}
    return files


def _listed(log: TableLog, version: int) -> Files | None:
    count = log.snapshot(version).numOfFilesIfKnown()
    if count.isDefined() and int(count.get()) > FEW_FILES:
        return None
    return {file_key(action): action for action in log.all_files(version)}
