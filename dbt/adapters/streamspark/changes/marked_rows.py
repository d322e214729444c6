"""Only the rows that one deletion vector hides and another does not: a file whose vector changed need not be
read in full. Done with a synthetic vector that hides every other row."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from dbt.adapters.streamspark.changes.log import Action, TableLog
from dbt.adapters.streamspark.changes.missing_files import vectors_of

# Delta gives its readers a vector as a text that Java's DataOutput writes, which takes no more bytes: some ten thousand
# rows all over a file. A file is read in several parts then, up to so many; comparing it whole costs less than more.
MOST_TEXT = 65_535
MOST_PARTS = 8


def marked_rows(log: TableLog, old: Action, new: Action) -> tuple[list[Action], list[Action]] | None:
    """Of one path under two vectors: the file reduced to the rows hidden since (gone), and to those shown again since
    (back, after RESTORE), each in as many parts as it takes. None where the whole file has to be compared. Raises
    StaleSource where VACUUM took a vector, BrokenSource where it may not be read."""
    rows = physical_rows(old, new)
    if rows is None:
        return None
    with vectors_of(log):
        before, after = bitmap_of(log, old), bitmap_of(log, new)
    gone = _reduced(log, old, _minus(after, before), rows)
    back = _reduced(log, new, _minus(before, after), rows)
    return None if gone is None or back is None else (gone, back)


def physical_rows(*actions: Action) -> int | None:
    """The number of rows in the parquet file, hidden ones too; None when no statistics tell."""
    for action in actions:
        if action.get("stats"):
            rows = json.loads(action["stats"]).get("numRecords")
            if rows is not None:
                return int(rows)
    return None


def marked_share(old: Action, new: Action) -> float | None:
    """Of one path under two vectors: about what part of its rows only one of them hides, without reading either; None
    when no statistics tell. A RESTORE that shows as many rows as it hides is taken for none.

    >>> stats = {"stats": '{"numRecords": 8}'}
    >>> marked_share(stats, {**stats, "deletionVector": {"cardinality": 2}})
    0.25
    """
    rows = physical_rows(old, new)
    return min(1.0, marked_count(old, new) / rows) if rows else None


def marked_count(old: Action, new: Action) -> int:
    """The same in rows."""
    return abs(_hidden_rows(new) - _hidden_rows(old))


def _hidden_rows(action: Action) -> int:
    return int((action.get("deletionVector") or {}).get("cardinality", 0))


def live_rows(action: Action) -> int | None:
    """The number of rows that the file's vector does not hide; None when no statistics tell."""
    rows = physical_rows(action)
    return None if rows is None else rows - _hidden_rows(action)


def _reduced(log: TableLog, action: Action, shown: Any, rows: int) -> list[Action] | None:
    """The file with vectors that together show just these rows; None where they would be too many."""
    parts = 1
    while parts <= MOST_PARTS:
        bounds = [rows * part // parts for part in range(parts + 1)]
        bitmaps = [_hidden(log, shown, rows, *part) for part in pairwise(bounds)]
        vectors = [_inline(log, hidden) for hidden in bitmaps if hidden.cardinality() < rows]
        if all(len(vector["pathOrInlineDv"]) <= MOST_TEXT for vector in vectors):
            return [{**action, "deletionVector": vector} for vector in vectors]
        parts *= 2
    return None


def _hidden(log: TableLog, shown: Any, rows: int, begin: int, end: int) -> Any:
    """All rows but those of `shown` from `begin` to `end`."""
    hidden = _rows(log, begin, end)
    hidden.diff(shown)
    for others in ((0, begin), (end, rows)):
        hidden.addRange(_range(log, *others))
    hidden.runOptimize()
    return hidden


def bitmap_of(log: TableLog, action: Action) -> Any:
    """The rows that an action's deletion vector hides, Delta's RoaringBitmapArray."""
    vector = action.get("deletionVector")
    if not vector:
        return _empty_bitmap(log)
    delta = log._jvm.org.apache.spark.sql.delta
    descriptor = _from_json(log, vector)
    store = getattr(delta.storage.dv, "DeletionVectorStore$").createInstance(log._hadoop_conf)
    stored = getattr(delta.deletionvectors, "StoredBitmap$")
    return stored.create(descriptor, log.java.dataPath()).load(store)


def vector_file(log: TableLog, action: Action) -> Any | None:
    """Hadoop's Path of the file that holds an action's deletion vector; None where none does."""
    if not has_vector_file(action):
        return None
    return _from_json(log, action["deletionVector"]).absolutePath(log.java.dataPath())


def has_vector_file(action: Action) -> bool:
    """A small vector is in the log itself."""
    return (action.get("deletionVector") or {}).get("storageType", "i") != "i"


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


def _rows(log: TableLog, begin: int, end: int) -> Any:
    found = _empty_bitmap(log)
    found.addRange(_range(log, begin, end))
    return found


def _range(log: TableLog, begin: int, end: int) -> Any:
    return getattr(log._jvm.scala.collection.immutable, "Range$").apply(begin, end)


def _inline(log: TableLog, hidden: Any) -> dict[str, Any]:
    delta = log._jvm.org.apache.spark.sql.delta
    content = hidden.serializeAsByteArray(portable(log))
    descriptor = getattr(delta.actions, "DeletionVectorDescriptor$")
    vector = descriptor.inlineInLog(content, hidden.cardinality())
    text = delta.util.JsonUtils.mapper().writeValueAsString(vector)
    return dict(json.loads(text))


def portable(log: TableLog) -> Any:
    """The format in which vectors are written, as all readers of Delta know it."""
    return getattr(log._jvm.org.apache.spark.sql.delta.deletionvectors, "RoaringBitmapArrayFormat$").Portable()
