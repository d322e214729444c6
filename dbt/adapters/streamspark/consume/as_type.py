"""A value in the type that a target's column has: fields of structs by their names, wherever they are nested."""

from __future__ import annotations

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.streamspark.changes.projection import quoted, type_sql
from dbt.adapters.streamspark.consume.columns import Column
from dbt.adapters.streamspark.literals import literal


def as_type(value: str, own: Column, wanted: Column) -> str:
    """SQL of the value `value` (SQL), which has the type of the column `own`, in that of `wanted`. A field that it
    lacks is NULL, and one that is not wanted is left out, as of columns; CAST would take fields by their places.

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
    return _converted(value, own.data_type, wanted.data_type)


def _converted(value: str, own: DataType, wanted: DataType) -> str:
    if type_sql(own) == type_sql(wanted):
        return value
    if isinstance(own, StructType) and isinstance(wanted, StructType):
        fields = ", ".join(f"{literal(field.name)}, {_field(value, own, field)}" for field in wanted.fields)
        return f"if({value} is null, null, named_struct({fields}))"
    if isinstance(own, ArrayType) and isinstance(wanted, ArrayType):
        return f"transform({value}, x -> {_converted('x', own.elementType, wanted.elementType)})"
    if isinstance(own, MapType) and isinstance(wanted, MapType):
        key = _converted("x.key", own.keyType, wanted.keyType)
        held = _converted("x.value", own.valueType, wanted.valueType)
        return f"map_from_entries(transform(map_entries({value}), x -> struct({key} as key, {held} as value)))"
    return f"cast({value} as {type_sql(wanted)})"


def _field(value: str, own: StructType, wanted: StructField) -> str:
    found = next((field for field in own.fields if field.name.lower() == wanted.name.lower()), None)
    if found is None:
        return f"cast(null as {type_sql(wanted.dataType)})"
    return _converted(f"{value}.{quoted(found.name)}", found.dataType, wanted.dataType)
