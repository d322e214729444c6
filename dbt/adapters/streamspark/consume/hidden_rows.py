"""Rows of a table's files hidden by deletion vectors that the driver writes: the actions for a commit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.streamspark.changes.file_frame import add_files
from dbt.adapters.streamspark.changes.java_objects import java_objects
from dbt.adapters.streamspark.changes.log import Action, TableLog
from dbt.adapters.streamspark.changes.marked_rows import bitmap_of, live_rows, physical_rows, portable
from dbt.adapters.streamspark.changes.sequences import as_java


def hidden_rows(log: TableLog, files: Sequence[Action], places: Mapping[str, Sequence[int]]) -> list[Any]:
    """Delta's actions by which the rows at `places` (by a file's path: positions from 0) are gone. `files` are the adds
    of these paths, all with statistics. One file takes all vectors."""
    bitmaps = [_more(log, file, places[file["path"]]) for file in files]
    adds = as_java(log, add_files(log, [{**file, "stats": wide_stats(file)} for file in files]))
    found: list[Any] = []
    with _Vectors(log) as vectors:
        for file, add, bitmap in zip(files, adds, bitmaps, strict=True):
            if bitmap.cardinality() == physical_rows(file):
                found.append(add.remove())
            else:
                pair = add.removeRows(vectors.write(bitmap), False, True)
                found += [pair._1(), pair._2()]
    return found


def wide_stats(file: Action) -> str:
    """The statistics of a file of which rows get hidden: bounds that need not be reached by a row any more. A column
    that is NULL in all rows that were shown counts as NULL in all rows, as Delta does it.

    >>> wide_stats({"stats": '{"numRecords":3,"nullCount":{"a":2,"b":1}}', "deletionVector": {"cardinality": 1}})
    '{"numRecords": 3, "nullCount": {"a": 3, "b": 1}, "tightBounds": false}'
    """
    stats: dict[str, Any] = json.loads(file["stats"])
    if stats.get("tightBounds") is False:
        return str(file["stats"])
    if "nullCount" in stats:
        stats["nullCount"] = _all_null(stats["nullCount"], live_rows(file), stats["numRecords"])
    return json.dumps({**stats, "tightBounds": False})


def _all_null(counts: Any, shown: int | None, rows: int) -> Any:
    if isinstance(counts, dict):
        return {name: _all_null(count, shown, rows) for name, count in counts.items()}
    return rows if counts == shown else counts


def _more(log: TableLog, file: Action, places: Sequence[int]) -> Any:
    """The file's vector with more rows in it."""
    bitmap = bitmap_of(log, file).copy()
    bitmap.addAll(java_objects(log.spark, "long", list(places)))
    bitmap.runOptimize()
    return bitmap


class _Vectors:
    """A new file of deletion vectors in the table's directory."""

    def __init__(self, log: TableLog):
        delta = log._jvm.org.apache.spark.sql.delta
        self._log = log
        self._id = log._jvm.java.util.UUID.randomUUID()
        self._store = getattr(delta.storage.dv, "DeletionVectorStore$").createInstance(log._hadoop_conf)
        self._descriptor = getattr(delta.actions, "DeletionVectorDescriptor$")

    def __enter__(self) -> _Vectors:
        table = self._store.pathWithFileSystem(self._log.java.dataPath())
        self._writer = self._store.createWriter(self._store.generateFileNameInTable(table, self._id, ""))
        return self

    def __exit__(self, *_: Any) -> None:
        self._writer.close()

    def write(self, bitmap: Any) -> Any:
        """The vector's descriptor."""
        content = bitmap.serializeAsByteArray(portable(self._log))
        place = self._writer.write(content)
        offset = self._log._jvm.scala.Option.apply(place.offset())
        return self._descriptor.onDiskWithRelativePath(
            self._id, "", len(content), bitmap.cardinality(), offset, self._log._none
        )
