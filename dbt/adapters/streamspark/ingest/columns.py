"""The columns of a landing table, as a row that is sent is checked against them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timezone

import pyarrow as pa
from pyspark.sql import types as t
from pyspark.sql.pandas.types import to_arrow_type

from dbt.adapters.streamspark.ingest.converters import converter
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError

_LENGTH = re.compile(r"(char|varchar)\((\d+)\)")


@dataclass(frozen=True)
class Column:
    """`arrow` is the type in which values go to Spark. `length` (characters, None: any) is that of a varchar, or of a
    char where `padded`."""

    name: str
    kind: t.DataType
    arrow: pa.DataType
    nullable: bool = True
    length: int | None = None
    padded: bool = False


def columns_of(table: str, schema: t.StructType) -> tuple[Column, ...]:
    """Raises StreamingIngestError (UnsupportedTable) for a column that channels cannot fill (document 004)."""
    return tuple(_column(table, field) for field in schema.fields)


def column(field: t.StructField) -> Column:
    """The column of one field, as Delta's own metadata has it (lengths in `__CHAR_VARCHAR_TYPE_STRING`)."""
    match = _LENGTH.fullmatch(str((field.metadata or {}).get("__CHAR_VARCHAR_TYPE_STRING", "")))
    length, padded = (int(match.group(2)), match.group(1) == "char") if match else (None, False)
    arrow = to_arrow_type(field.dataType, timezone="UTC")
    return Column(field.name, field.dataType, arrow, field.nullable, length, padded)


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    return pa.schema([pa.field(one.name, one.arrow) for one in columns])


def _column(table: str, field: t.StructField) -> Column:
    why = _unsupported(field)
    if why is not None:
        raise StreamingIngestError(
            "UnsupportedTable",
            f"table {table}: column {field.name} {why}, which channels do not fill. Open the channel on a table "
            "without such a column, and fill this one from there.",
        )
    return column(field)


def _unsupported(field: t.StructField) -> str | None:
    metadata = field.metadata or {}
    if any(key.startswith("delta.identity.") for key in metadata):
        return "is an identity column"
    if "delta.generationExpression" in metadata:
        return "is a generated column"
    if str(metadata.get("CURRENT_DEFAULT", "null")).lower() != "null":
        return f"has the default {metadata['CURRENT_DEFAULT']}"
    if isinstance(field.dataType, t.StringType) and field.dataType != t.StringType():
        return f"has a collation ({field.dataType.simpleString()})"
    if converter(field.dataType, timezone.utc) is None:
        return f"is of type {field.dataType.simpleString()}"
    return None
