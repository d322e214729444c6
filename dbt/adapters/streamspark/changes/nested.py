"""Types of one column at two versions: the fields of structs in them are told as columns are, by a key that survives a
rename, and not by their places or names."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.streamspark.changes.projection import quoted, type_sql
from dbt.adapters.streamspark.literals import literal

Key = Callable[[StructField], str]
Cast = Callable[[str, DataType, DataType], str]


def as_type(sql: str, old: DataType, new: DataType, key: Key, cast: Cast, depth: int = 0) -> str:
    """SQL of a value of type `old` as `new`; `cast` gives that of one whose fields are in their places. Fields that the
    old type lacks are NULL."""
    if in_place(old, new, key):
        return cast(sql, old, new)

    def inner(sql: str, old: DataType, new: DataType) -> str:
        return as_type(sql, old, new, key, cast, depth + 1)

    if isinstance(old, StructType) and isinstance(new, StructType):
        return _struct(sql, old, new, key, inner)
    one = f"__{depth}"
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        return f"transform({sql}, {one} -> {inner(one, old.elementType, new.elementType)})"
    assert isinstance(old, MapType) and isinstance(new, MapType)
    keys = f"transform_keys({sql}, ({one}, {one}v) -> {inner(one, old.keyType, new.keyType)})"
    return f"transform_values({keys}, ({one}, {one}v) -> {inner(f'{one}v', old.valueType, new.valueType)})"


def _struct(sql: str, old: StructType, new: StructType, key: Key, inner: Cast) -> str:
    before = {key(field): field for field in old.fields}

    def value(field: StructField) -> str:
        held = before.get(key(field))
        if held is None:
            return null_of(field.dataType)
        return inner(f"{sql}.{quoted(held.name)}", held.dataType, field.dataType)

    fields = ", ".join(f"{literal(field.name)}, {value(field)}" for field in new.fields)
    return f"if({sql} is null, null, named_struct({fields}))"


def null_of(data_type: DataType) -> str:
    return f"cast(null as {type_sql(data_type)})"


def in_place(old: DataType, new: DataType, key: Key) -> bool:
    """Whether both have the same fields, in the same order."""
    if isinstance(old, StructType) and isinstance(new, StructType):
        same = [key(field) for field in old.fields] == [key(field) for field in new.fields]
        return same and all(in_place(o.dataType, n.dataType, key) for o, n in zip(old.fields, new.fields, strict=True))
    return all(in_place(o, n, key) for o, n in elements(old, new))


def reads(old: DataType, new: DataType, key: Key) -> bool:
    """Whether files of type `old` can be read as `new` without a cast: equal leaves, nested columns may be added."""
    if isinstance(old, StructType) and isinstance(new, StructType):
        before = {key(field): field for field in old.fields}
        shared = [(before[key(field)], field) for field in new.fields if key(field) in before]
        return all(reads(o.dataType, n.dataType, key) for o, n in shared)
    inside = elements(old, new)
    return all(reads(o, n, key) for o, n in inside) if inside else old == new


def rebound(old: DataType, new: DataType, key: Key) -> bool:
    """Whether a field's name was another field's."""
    if isinstance(old, StructType) and isinstance(new, StructType):
        held = {field.name.lower(): field for field in old.fields}
        both = [(held[field.name.lower()], field) for field in new.fields if field.name.lower() in held]
        return any(key(o) != key(n) or rebound(o.dataType, n.dataType, key) for o, n in both)
    return any(rebound(o, n, key) for o, n in elements(old, new))


def elements(old: DataType, new: DataType) -> list[tuple[DataType, DataType]]:
    """What two arrays or two maps are of."""
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        return [(old.elementType, new.elementType)]
    if isinstance(old, MapType) and isinstance(new, MapType):
        return [(old.keyType, new.keyType), (old.valueType, new.valueType)]
    return []
