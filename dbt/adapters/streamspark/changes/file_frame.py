"""A DataFrame over exactly the given files of a Delta table, through Delta's own reader (py4j)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.java_objects import java_objects
from dbt.adapters.streamspark.changes.log import Action, TableLog

_ADD_FIELDS = (
    "path",
    "partitionValues",
    "size",
    "modificationTime",
    "dataChange",
    "stats",
    "tags",
    "deletionVector",
    "baseRowId",
    "defaultRowCommitVersion",
    "clusteringProvider",
)


def file_frame(log: TableLog, snapshot: Any, files: Sequence[Action]) -> DataFrame:
    """The live rows of `files` (add or remove actions) under `snapshot`'s schema, deletion vectors applied.

    `_metadata.row_id`, `_metadata.row_commit_version` and `_metadata.base_row_id` can be selected.
    """
    adds = add_files(log, [_as_add(action) for action in files])
    log.activate_session()
    frame = log.java.createDataFrame(snapshot, adds, False, log._none)
    return DataFrame(frame, log.spark)


def _as_add(action: Action) -> Action:
    add = {name: action[name] for name in _ADD_FIELDS if action.get(name) is not None}
    return {"partitionValues": {}, "size": 0, "modificationTime": 0, "dataChange": True, **add}


def add_files(log: TableLog, adds: list[Action]) -> Any:
    """A Scala sequence of Delta's AddFile."""
    return java_objects(log.spark, "org.apache.spark.sql.delta.actions.AddFile", adds)
