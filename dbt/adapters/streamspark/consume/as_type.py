"""A value in the type that a target's column has: fields of structs by their names, wherever they are nested."""

from __future__ import annotations

from pyspark.sql.types import DataType, StructField

from dbt.adapters.streamspark.changes import nested
from dbt.adapters.streamspark.changes.projection import type_sql
from dbt.adapters.streamspark.consume.columns import Column


def as_type(value: str, own: Column, wanted: Column) -> str:
    """SQL of the value `value` (SQL), which has the type of the column `own`, in that of `wanted`. A field that it
    lacks is NULL, and one that is not wanted is left out, as of columns; CAST would take fields by their places.

    >>> from pyspark.sql.types import StructType
    >>> held, given = StructType().add("b", "integer").add("c", "date"), StructType().add("b", "integer")
    >>> print(as_type("s", Column("s", "struct<a,b>", given), Column("s", "struct<b,c>", held)))
    if(s is null, null, named_struct('b', s.`b`, 'c', cast(null as date)))
    >>> as_type("s", Column("s", "int"), Column("s", "int")), as_type("s", Column("s", "int"), Column("s", "bigint"))
    ('s', 'cast(s as bigint)')
    """
    if own.type == wanted.type:
        return value
    if own.data_type is None or wanted.data_type is None:
        return f"cast({value} as {wanted.type})"
    return nested.as_type(value, own.data_type, wanted.data_type, _name, _cast)


def _name(field: StructField) -> str:
    return str(field.name).lower()


def _cast(value: str, own: DataType, wanted: DataType) -> str:
    return value if type_sql(own) == type_sql(wanted) else f"cast({value} as {type_sql(wanted)})"
