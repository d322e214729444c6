"""Only the rows that one deletion vector hides and another does not: a file whose vector changed need not be
read in full. Done with a synthetic vector that hides every other row (notes/performance.md)."""

from __future__ import annotations

import json
from typing import Any

from dbt.adapters.streamspark.changes.log import Action, TableLog


def marked_rows(log: TableLog, old: Action, new: Action) -> tuple[Action | None, Action | None]:
    """Of one path under two vectors: the file reduced to the rows hidden since (gone), and to those shown
    again since (back, after RESTORE). None where there is no such row."""
    rows = physical_rows(old, new)
    if rows is None:
        return old, new
    before, after = _bitmap(log, old), _bitmap(log, new)
    return _reduced(log, old, _minus(after, before), rows), _reduced(log, new, _minus(before, after), rows)


def physical_rows(*actions: Action) -> int | None:
    """The number of rows in the parquet file, hidden ones too; None when no statistics tell."""
    for action in actions:
        if action.get("stats"):
            rows = json.loads(action["stats"]).get("numRecords")
            if rows is not None:
                return int(rows)
    return None


def _reduced(log: TableLog, action: Action, shown: Any, rows: int) -> Action | None:
    if shown.isEmpty():
        return None
    hidden = _empty_bitmap(log)
    hidden.addRange(_range(log, rows))
    hidden.diff(shown)
    hidden.runOptimize()
    return {**action, "deletionVector": _inline(log, hidden)}


def _bitmap(log: TableLog, action: Action) -> Any:
    vector = action.get("deletionVector")
    if not vector:
        return _empty_bitmap(log)
    delta = log._jvm.org.apache.spark.sql.delta
    descriptor = _from_json(log, vector)
    store = getattr(delta.storage.dv, "DeletionVectorStore$").createInstance(log._hadoop_conf)
    stored = getattr(delta.deletionvectors, "StoredBitmap$")
    return stored.create(descriptor, log.java.dataPath()).load(store)


def _from_json(log: TableLog, vector: dict[str, Any]) -> Any:
    add = {"path": "x", "partitionValues": {}, "size": 0, "modificationTime": 0, "dataChange": True}
    text = json.dumps({"add": {**add, "deletionVector": vector}})
    action = getattr(log._jvm.org.apache.spark.sql.delta.actions, "Action$")
    return action.fromJson(text).deletionVector()


def _minus(left: Any, right: Any) -> Any:
    difference = left.copy()
    difference.diff(right)
    return difference


def _empty_bitmap(log: TableLog) -> Any:
    return log._jvm.org.apache.spark.sql.delta.deletionvectors.RoaringBitmapArray()


def _range(log: TableLog, rows: int) -> Any:
    return getattr(log._jvm.scala.collection.immutable, "Range$").apply(0, rows)


def _inline(log: TableLog, hidden: Any) -> dict[str, Any]:
    delta = log._jvm.org.apache.spark.sql.delta
    portable = getattr(delta.deletionvectors, "RoaringBitmapArrayFormat$").Portable()
    content = hidden.serializeAsByteArray(portable)
    descriptor = getattr(delta.actions, "DeletionVectorDescriptor$")
    vector = descriptor.inlineInLog(content, hidden.cardinality())
    text = delta.util.JsonUtils.mapper().writeValueAsString(vector)
    return dict(json.loads(text))
