"""A DataFrame over exactly the given files of a Delta table, through Delta's own reader (py4j)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from pyspark import SparkContext
from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.log import Action, TableLog
from dbt.adapters.streamspark.changes.sequences import as_scala
from dbt.adapters.streamspark.java_names import java_names

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
    """A Scala sequence of Delta's AddFile. All of them in one call: a thousand files one by one would cost a second."""
    mapper, list_type = _list_mapper(log.spark.sparkContext)
    return as_scala(log, mapper.readValue(json.dumps(adds), list_type))


@cache
def _list_mapper(context: SparkContext) -> tuple[Any, Any]:
    """Jackson's mapper, and its type of a list of AddFile."""
    jvm, gateway = java_names(context), context._gateway
    array: Any = gateway.new_array(jvm.org.apache.spark.sql.delta.actions.AddFile, 0)  # type: ignore[union-attr]
    mapper = jvm.org.apache.spark.sql.delta.util.JsonUtils.mapper()
    element, lists = array.getClass().getComponentType(), jvm.java.util.ArrayList().getClass()
    return mapper, mapper.getTypeFactory().constructCollectionType(lists, element)
