"""The default reader: the paper's way (section 3.2). Cost follows the end result, not the number of commits."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import Action
from dbt.adapters.streamspark.changes.marked_rows import live_rows, marked_rows
from dbt.adapters.streamspark.changes.removed_rows import removed_rows
from dbt.adapters.streamspark.changes.rows import (
    changed_version,
    deletes,
    inserts,
    new_side,
    nothing,
    pair,
    removed_version,
    side,
    union,
)

# What one task reads and joins sooner than Spark sets up two shuffles: bytes, of which each file counts some more.
SMALL = 16 * 1024 * 1024
A_FILE = 1024 * 1024
# So few that joining rows which need no partner costs less than two scans more, each of which is a job's overhead.
FEW_ROWS = 100_000


def endpoint_diff(interval: Interval) -> DataFrame:
    """Reads the files only at the start and only at the end, and of files at both ends only the rows whose
    deletion vector bit differs. Files that cannot share rows with the other side skip the join. Where what is gone is
    held, only what came is read."""
    gone = removed_rows(interval)
    return _from_files(interval) if gone is None else _from_held(interval, gone)


def _from_held(interval: Interval, gone: DataFrame) -> DataFrame:
    if not interval.files.new:
        return deletes(interval, gone, removed_version(interval))
    new = interval.schemas.frame(interval.files.new, interval.end)
    if not interval.files.removal:
        return inserts(interval, new, changed_version(interval))
    old = side(interval, gone, f"{removed_version(interval)} as __gone")
    return pair(interval, old.coalesce(1), new_side(interval, new).coalesce(1))


def _from_files(interval: Interval) -> DataFrame:
    old, new, whole = _sides(interval)
    shared_old, shared_new = _shared(interval, old, whole), _shared(interval, new, whole)
    if not shared_old or not shared_new:
        shared_old, shared_new = [], []
    elif _one_task_does([*old, *new]) or _are_few([*old, *new]):
        shared_old, shared_new = old, new
    parts = [*_lone(interval, old, new, shared_old, shared_new)]
    if shared_old:
        parts.append(_paired(interval, shared_old, shared_new))
    return union(parts) if parts else nothing(interval)


def _sides(interval: Interval) -> tuple[list[Action], list[Action], set[str]]:
    """What has rows of the start alone, and of the end alone; `whole`: paths that are on both sides in full."""
    old, new, whole = [*interval.files.old], [*interval.files.new], set()
    reducible = bool(interval.files.remarked) and interval.schemas.may_hide_rows(interval.start or 0)
    for before, after in interval.files.remarked:
        marked = marked_rows(interval.log, before, after) if reducible else None
        if marked is None:
            whole.add(before["path"])
        gone, back = marked or ([before], [after])
        old += gone
        new += back
    return old, new, whole


def _shared(interval: Interval, files: Sequence[Action], whole: set[str]) -> list[Action]:
    """Under a unique key any file may hold the partner of any row."""
    if interval.unique_key:
        return list(files)
    return [file for file in files if file["path"] in whole or interval.files.may_be_carried(file["path"])]


def _lone(
    interval: Interval,
    old: list[Action],
    new: list[Action],
    shared_old: list[Action],
    shared_new: list[Action],
) -> list[DataFrame]:
    lone_new = [file for file in new if file not in shared_new]
    lone_old = [file for file in old if file not in shared_old]
    parts = []
    if lone_new:
        parts.append(inserts(interval, interval.schemas.frame(lone_new, interval.end), changed_version(interval)))
    if lone_old:
        frame = interval.schemas.frame(lone_old, interval.start or 0)
        parts.append(deletes(interval, frame, removed_version(interval)))
    return parts


def _paired(interval: Interval, old: list[Action], new: list[Action]) -> DataFrame:
    schemas = interval.schemas
    old_side = side(interval, schemas.frame(old, interval.start or 0), f"{removed_version(interval)} as __gone")
    changed = new_side(interval, schemas.frame(new, interval.end))
    if _one_task_does([*old, *new]):
        return pair(interval, old_side.coalesce(1), changed.coalesce(1))
    return pair(interval, old_side, changed)


def _one_task_does(files: Sequence[Action]) -> bool:
    """A remove need not say how large its file was: such a file is taken for a large one."""
    return sum((file.get("size") or SMALL) + A_FILE for file in files) <= SMALL


def _are_few(files: Sequence[Action]) -> bool:
    rows = [live_rows(file) for file in files]
    return None not in rows and sum(row or 0 for row in rows) <= FEW_ROWS
