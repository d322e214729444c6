"""Files written under one schema, read under another: columns added, renamed, dropped, widened or rebuilt
between the two ends of an interval. Every row comes out in the end version's columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.streamspark.changes import nested
from dbt.adapters.streamspark.changes.file_frame import file_frame
from dbt.adapters.streamspark.changes.log import Action, TableLog
from dbt.adapters.streamspark.changes.nested import Key
from dbt.adapters.streamspark.changes.projection import quoted, type_sql
from dbt.adapters.streamspark.errors import BrokenSource


class Schemas:
    """Reads files of any version of (start, end] in the columns of `end`. `changed`: whether columns may have changed
    there; `replaced`: the newest version there that made the table anew, or -1."""

    def __init__(self, log: TableLog, end: int, changed: bool, replaced: int = -1):
        self._log = log
        self._changed = changed
        self._replaced = replaced
        self._end = log.snapshot(end)
        self._metadata = _metadata(self._end)
        self.schema = _schema(self._metadata)

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
        keeps_vectors = reads_vectors(self._end) or not reads_vectors(then)
        if keeps_vectors and self._end_reads(_metadata(then), version):
            return self._end, None
        return then, self.columns_at(version)

    def _end_reads(self, then: Action, version: int) -> bool:
        """Whether files of `version`, with its older metadata, can be read under the end's."""
        old = _schema(then)
        pairs = self._pairs(old, self._key(old, version))
        same_layout = then["partitionColumns"] == self._metadata["partitionColumns"]
        by_physical = all(o is None or _physical(o) == _physical(n) for o, n in pairs)
        return same_layout and by_physical and all(o is None or _reads(o, n) for o, n in pairs)

    def columns_at(self, version: int) -> list[str]:
        """The end's columns as SQL over the columns that the table had at `version`."""
        old = self._schema_at(version)
        key = self._key(old, version)
        return [f"{self._value(o, n, key)} as {quoted(n.name)}" for o, n in self._pairs(old, key)]

    def rebound(self, version: int) -> list[str]:
        """The end's columns whose name, or that of a field in them, was another's at `version`: dropped or renamed, and
        made again. No row was written for that, but what a query gives is another."""
        if not self._changed:
            return []
        old = self._schema_at(version)
        key, held = self._key(old, version), {_name(field): field for field in old.fields}
        both = [(held[_name(field)], field) for field in self.schema.fields if _name(field) in held]
        return [n.name for o, n in both if key(o) != key(n) or nested.rebound(o.dataType, n.dataType, key)]

    def _key(self, old: StructType, version: int) -> Key:
        """What tells columns of `old`, the schema at `version`, and fields in them. Physical names survive a rename. A
        table made anew under column mapping keeps those of columns whose type stays; the others are told by names."""
        kept = _physical_names(self.schema) & _physical_names(old)
        if not kept:
            return _name
        if version >= self._replaced:
            return _physical
        return lambda field: _physical(field) if _physical(field) in kept else f"name {_name(field)}"

    def _schema_at(self, version: int) -> StructType:
        return _schema(_metadata(self._log.snapshot(version)))

    def _pairs(self, old: StructType, key: Key) -> list[tuple[StructField | None, StructField]]:
        before = {key(field): field for field in old.fields}
        return [(before.get(key(field)), field) for field in self.schema.fields]

    def _value(self, old: StructField | None, new: StructField, key: Key) -> str:
        if old is None:
            return nested.null_of(new.dataType)

        def cast(sql: str, before: DataType, after: DataType) -> str:
            if before == after:
                return sql
            self._check_cast(new.name, before, after)
            return f"cast({sql} as {type_sql(after)})"

        return nested.as_type(quoted(old.name), old.dataType, new.dataType, key, cast)

    def _check_cast(self, column: str, old: DataType, new: DataType) -> None:
        parser = self._log._jvm.org.apache.spark.sql.types.DataType
        cast = getattr(self._log._jvm.org.apache.spark.sql.catalyst.expressions, "Cast$")
        before, after = parser.fromJson(old.json()), parser.fromJson(new.json())
        if not cast.canUpCast(before, after):
            raise BrokenSource(
                f"table {self._log.name}: column {column} changed from {old.simpleString()} to "
                f"{new.simpleString()} inside the interval, and old rows cannot be read as the new "
                "type without loss. Begin again with --full-refresh of the stream or model that reads it."
            )


def reads_vectors(snapshot: Any) -> bool:
    """Whether Delta looks at deletion vectors under this snapshot: not where the table's protocol has none."""
    return "deletionVectors" in str(snapshot.protocol().json())


def _metadata(snapshot: Any) -> Action:
    return dict(json.loads(snapshot.metadata().json())["metaData"])


def _schema(metadata: Action) -> StructType:
    return StructType.fromJson(json.loads(metadata["schemaString"]))


def _physical_names(data_type: DataType) -> set[str]:
    """Of columns, and of fields in them."""
    if isinstance(data_type, StructType):
        inside = (_physical_names(field.dataType) for field in data_type.fields)
        return {_physical(field) for field in data_type.fields}.union(*inside)
    return set[str]().union(*(_physical_names(of) for of, _ in nested.elements(data_type, data_type)))


def _name(field: StructField) -> str:
    return str(field.name).lower()


def _physical(field: StructField) -> str:
    """In lower case: column mapping takes a name as the table wrote it, and without it names have no case."""
    return str((field.metadata or {}).get("delta.columnMapping.physicalName", field.name)).lower()


def _reads(old: StructField, new: StructField) -> bool:
    return nested.reads(old.dataType, new.dataType, _physical)
