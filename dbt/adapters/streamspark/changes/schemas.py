"""Files written under one schema, read under another: columns added, renamed, dropped, widened or rebuilt
between the two ends of an interval. Every row comes out in the end version's columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.streamspark.changes.file_frame import file_frame
from dbt.adapters.streamspark.changes.log import Action, TableLog
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.errors import BrokenSource


class Schemas:
    """Reads files of any version of (start, end] in the columns of `end`."""

    def __init__(self, log: TableLog, end: int, changed: bool):
        self._log = log
        self._changed = changed
        self._end = log.snapshot(end)
        self._metadata = _metadata(self._end)
        self.schema = StructType.fromJson(json.loads(self._metadata["schemaString"]))

    @property
    def columns(self) -> list[str]:
        return [field.name for field in self.schema.fields]

    @property
    def partitioned(self) -> bool:
        return bool(self._metadata["partitionColumns"])

    def frame(self, files: Sequence[Action], version: int) -> DataFrame:
        """The rows of `files`, which were live at `version`, with columns of the end and `_metadata`."""
        snapshot, columns = self._reading(version)
        frame = file_frame(self._log, snapshot, files)
        return frame if columns is None else frame.selectExpr(*columns, "_metadata")

    def snapshot(self, version: int) -> DataFrame:
        """All rows of `version`, with columns of the end and `_metadata`. Lists every file: for the oracle."""
        return self.frame(self._log.all_files(version), version)

    def may_hide_rows(self, version: int) -> bool:
        """Whether files of `version` can be given deletion vectors: `frame` may read them under a snapshot that knows
        none."""
        return reads_vectors(self._reading(version)[0])

    def _reading(self, version: int) -> tuple[Any, list[str] | None]:
        """The snapshot under which files of `version` are read, and the end's columns as SQL over its columns; None
        where they are the same."""
        if not self._changed:
            return self._end, None
        then = self._log.snapshot(version)
        columns = self._columns_from(_metadata(then))
        if columns is None and reads_vectors(then) and not reads_vectors(self._end):
            columns = self.columns_at(version)
        return (self._end, None) if columns is None else (then, columns)

    def _columns_from(self, then: Action) -> list[str] | None:
        """The end's columns as SQL over the older schema; None where the end's schema reads the old files."""
        old = StructType.fromJson(json.loads(then["schemaString"]))
        pairs = self._pairs(old)
        same_layout = then["partitionColumns"] == self._metadata["partitionColumns"]
        by_physical = all(o is None or _physical(o) == _physical(n) for o, n in pairs)
        if same_layout and by_physical and all(o is None or _reads(o.dataType, n.dataType) for o, n in pairs):
            return None
        return [self._cast(o, n) for o, n in pairs]

    def columns_at(self, version: int) -> list[str]:
        """The end's columns as SQL over the columns that the table had at `version`."""
        then = _metadata(self._log.snapshot(version))
        old = StructType.fromJson(json.loads(then["schemaString"]))
        return [self._cast(o, n) for o, n in self._pairs(old)]

    def rebound(self, version: int) -> list[str]:
        """The end's columns whose name was another column's at `version`: dropped or renamed, and made again. No row
        was written for that, but what a query gives is another."""
        if not self._changed:
            return []
        old = StructType.fromJson(json.loads(_metadata(self._log.snapshot(version))["schemaString"]))
        held, match = {field.name.lower(): field for field in old.fields}, _matching(old, self.schema)
        both = [(held[field.name.lower()], field) for field in self.schema.fields if field.name.lower() in held]
        return [new.name for before, new in both if match.get(_physical(new)) is not before]

    def _pairs(self, old: StructType) -> list[tuple[StructField | None, StructField]]:
        match = _matching(old, self.schema)
        return [(match.get(_physical(field)), field) for field in self.schema.fields]

    def _cast(self, old: StructField | None, new: StructField) -> str:
        target = f"as {quoted(new.name)}"
        if old is None:
            return f"cast(null as {new.dataType.simpleString()}) {target}"
        if old.dataType == new.dataType:
            return f"{quoted(old.name)} {target}"
        self._check_cast(old, new)
        return f"cast({quoted(old.name)} as {new.dataType.simpleString()}) {target}"

    def _check_cast(self, old: StructField, new: StructField) -> None:
        parser = self._log._jvm.org.apache.spark.sql.types.DataType
        cast = getattr(self._log._jvm.org.apache.spark.sql.catalyst.expressions, "Cast$")
        before, after = parser.fromJson(old.dataType.json()), parser.fromJson(new.dataType.json())
        if not cast.canUpCast(before, after):
            raise BrokenSource(
                f"table {self._log.name}: column {new.name} changed from {old.dataType.simpleString()} to "
                f"{new.dataType.simpleString()} inside the interval, and old rows cannot be read as the new "
                "type without loss. Begin again with --full-refresh of the stream or model that reads it."
            )


def reads_vectors(snapshot: Any) -> bool:
    """Whether Delta looks at deletion vectors under this snapshot: not where the table's protocol has none."""
    return "deletionVectors" in str(snapshot.protocol().json())


def _metadata(snapshot: Any) -> Action:
    return dict(json.loads(snapshot.metadata().json())["metaData"])


def _matching(old: StructType, new: StructType) -> dict[str, StructField]:
    """New physical name -> old column. Physical names survive a rename; a table rebuilt under column mapping
    has all new ones, and its columns are told by their names."""
    by_physical = {_physical(field): field for field in old.fields}
    if any(_physical(field) in by_physical for field in new.fields):
        return by_physical
    by_name = {field.name.lower(): field for field in old.fields}
    return {_physical(f): by_name[f.name.lower()] for f in new.fields if f.name.lower() in by_name}


def _physical(field: StructField) -> str:
    """In lower case: column mapping takes a name as the table wrote it, and without it names have no case."""
    return str((field.metadata or {}).get("delta.columnMapping.physicalName", field.name)).lower()


def _reads(old: DataType, new: DataType) -> bool:
    """Whether files of type `old` can be read as `new` without a cast: equal leaves, nested columns may be added."""
    if isinstance(old, StructType) and isinstance(new, StructType):
        before = {_physical(field): field for field in old.fields}
        shared = [(before[_physical(field)], field) for field in new.fields if _physical(field) in before]
        return all(_reads(o.dataType, n.dataType) for o, n in shared)
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        return _reads(old.elementType, new.elementType)
    if isinstance(old, MapType) and isinstance(new, MapType):
        return _reads(old.keyType, new.keyType) and _reads(old.valueType, new.valueType)
    return old == new
