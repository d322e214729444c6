"""File level, for landing tables without row ids: the rows of every file that arrived and stayed (document 000)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.epochs import epochs
from dbt.adapters.streamspark.changes.file_versions import file_versions
from dbt.adapters.streamspark.changes.interval import TRACKING, Interval
from dbt.adapters.streamspark.changes.log import Action, Commit
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.rows import data_struct, filtered, union
from dbt.adapters.streamspark.changes.schemas import reads_vectors
from dbt.adapters.streamspark.changes.selected import selected

# The whole path: CONVERT TO DELTA keeps files that have one name in many partitions.
PLACE = "md5(concat(_metadata.file_path, ':', _metadata.row_index))"

Arrival = tuple[int, Action]


def insert_only(interval: Interval) -> DataFrame:
    """A file that was rewritten is a new file, all of its rows inserts; rows deleted from a file that arrived
    are still inserts; files that compaction wrote bring nothing new, those it replaced are read."""
    arrived = arrived_files(interval.commits)
    frames = [_inserts(interval, version, _among(arrived, commits)) for version, commits in epochs(interval.commits)]
    return union(frames) if frames else _inserts(interval, interval.end, [])


def untracked_inserts(interval: Interval, frame: DataFrame, version: str) -> DataFrame:
    """Every row of `frame` as an insert, its id made of its place in its file; `version` is SQL."""
    columns = [
        "'insert' as __type",
        f"cast({version} as bigint) as __version",
        f"cast({version} as bigint) as __image",
        f"{file_row_id(interval)} as __row",
        f"{data_struct(interval)} as __data",
    ]
    return selected(filtered(interval, frame), columns)


def file_row_id(interval: Interval) -> str:
    """SQL of a row's id where rows are not tracked: its place in its file. Delta tells the place only of tables
    with deletion vectors or row tracking; elsewhere the id is the row's content and a count of its like."""
    if _tells_places(interval.log.snapshot(interval.end)):
        return PLACE
    content = f"to_json(struct({', '.join(quoted(name) for name in interval.schemas.columns)}))"
    nth = f"row_number() over (partition by _metadata.file_path, {content} order by _metadata.file_path)"
    return f"md5(concat(_metadata.file_path, ':', {nth}, ':', {content}))"


def _tells_places(snapshot: Any) -> bool:
    configuration = json.loads(snapshot.metadata().json())["metaData"]["configuration"]
    return configuration.get(TRACKING) == "true" or reads_vectors(snapshot)


def _inserts(interval: Interval, schema_version: int, arrived: Sequence[Arrival]) -> DataFrame:
    frame = interval.schemas.frame([file for _, file in arrived], schema_version)
    rows = untracked_inserts(
        interval, frame, file_versions(interval.log.uri, {file["path"]: version for version, file in arrived})
    )
    return rows if arrived else rows.where("false")


def arrived_files(commits: Sequence[Commit]) -> list[Arrival]:
    """(version, file) of the files that data changes brought and that none took away again."""
    files: dict[str, Arrival] = {}
    for commit in commits:
        removed = {remove["path"] for remove in commit.removes if remove["dataChange"]}
        added = {add["path"]: add for add in commit.adds if add["dataChange"]}
        for path in removed - added.keys():
            files.pop(path, None)
        files |= {path: (commit.version, added[path]) for path in added.keys() - removed}
    return list(files.values())


def _among(arrived: Sequence[Arrival], commits: Sequence[Commit]) -> list[Arrival]:
    versions = {commit.version for commit in commits}
    return [arrival for arrival in arrived if arrival[0] in versions]
