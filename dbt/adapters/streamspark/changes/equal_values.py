"""SQL that tells whether two values of a type are equal, NULLs and NaNs included, for types `<=>` refuses too."""

from __future__ import annotations

from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.literals import literal


def comparable(expression: str, data_type: DataType) -> str:
    """`expression` as SQL of a type that `<=>` takes: maps become sorted entries, variants their types and JSON.

    >>> from pyspark.sql.types import IntegerType, StringType
    >>> comparable("c", IntegerType())
    'c'
    >>> comparable("c", MapType(StringType(), IntegerType()))
    'array_sort(map_entries(c))'
    """
    if not _holds_incomparable(data_type):
        return expression
    if isinstance(data_type, MapType):
        return _sorted_entries(expression, data_type)
    if isinstance(data_type, ArrayType):
        return f"transform({expression}, x -> {comparable('x', data_type.elementType)})"
    if isinstance(data_type, StructType):
        return _struct(expression, data_type)
    return f"concat(schema_of_variant({expression}), to_json({expression}))"  # 1 and 1.0 have one JSON


def _holds_incomparable(data_type: DataType) -> bool:
    if isinstance(data_type, (MapType, VariantType)):
        return True
    if isinstance(data_type, ArrayType):
        return _holds_incomparable(data_type.elementType)
    return isinstance(data_type, StructType) and any(_holds_incomparable(f.dataType) for f in data_type.fields)


def _sorted_entries(expression: str, data_type: MapType) -> str:
    if not _holds_incomparable(data_type.valueType) and not _holds_incomparable(data_type.keyType):
        return f"array_sort(map_entries({expression}))"
    pair = f"struct({comparable('e.key', data_type.keyType)} as k, {comparable('e.value', data_type.valueType)} as v)"
    return f"array_sort(transform(map_entries({expression}), e -> {pair}))"


def _struct(expression: str, data_type: StructType) -> str:
    fields = ", ".join(
        f"{literal(f.name)}, {comparable(f'{expression}.{quoted(f.name)}', f.dataType)}" for f in data_type.fields
    )
    return f"if({expression} is null, null, named_struct({fields}))"
