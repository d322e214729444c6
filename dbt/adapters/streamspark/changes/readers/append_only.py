"""Rows as they were first inserted, also those changed or deleted since (documents 000 and 001; paper, Listing 4)."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.epochs import epochs
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import Action, Commit
from dbt.adapters.streamspark.changes.rows import IMAGE_VERSION, ROW_ID, inserts, nothing, union

_FRESH = f"{ROW_ID} >= _metadata.base_row_id"


def append_only(interval: Interval) -> DataFrame:
    """Reads each inserting commit's new files. A row that a commit copied keeps its id, which is below the ids
    that the file was given; a row that it inserted has one of them. Restored files are no new inserts."""
    frames = [
        inserts(interval, interval.schemas.frame(files, version).where(_FRESH), IMAGE_VERSION)
        for version, files in inserted_files(interval.commits)
    ]
    return union(frames) if frames else nothing(interval)


def inserted_files(commits: Sequence[Commit]) -> list[tuple[int, list[Action]]]:
    """New files by the version whose schema they were written under."""
    written = [(version, [file for c in group for file in _new_files(c)]) for version, group in epochs(commits)]
    return [(version, files) for version, files in written if files]


def _new_files(commit: Commit) -> list[Action]:
    return [add for add in commit.adds if add["dataChange"] and add.get("defaultRowCommitVersion") == commit.version]
