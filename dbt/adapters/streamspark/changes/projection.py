"""A plain projection and selection over one base table: what a leaf reads, pushed below the difference."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql.types import ArrayType, DataType, MapType, StructType


@dataclass(frozen=True)
class Projection:
    """`columns` are (output name, Spark SQL expression over the base columns); None means all of them.
    `where` is a Spark SQL predicate over the base columns. Neither is qualified.

    Applying it to both ends before they are compared gives the paper's section 2.2.2 for free: updates of
    excluded columns vanish, an update that moves a row into the filter becomes an insert, out of it a delete.
    """

    columns: tuple[tuple[str, str], ...] | None = None
    where: str | None = None

    def over(self, base_columns: list[str]) -> tuple[tuple[str, str], ...]:
        """The (name, expression) pairs, with every base column where none were named."""
        if self.columns is not None:
            return self.columns
        return tuple((name, quoted(name)) for name in base_columns)

    @property
    def filter(self) -> str:
        return self.where or "true"


def quoted(name: str) -> str:
    """A column name as a Spark identifier.

    >>> quoted("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def type_sql(data_type: DataType) -> str:
    """A type as CAST takes it; the names of fields may need quotes.

    >>> type_sql(StructType().add("a b", ArrayType(StructType().add("x", "string"))))
    'struct<`a b`:array<struct<`x`:string>>>'
    """
    if isinstance(data_type, StructType):
        return f"struct<{','.join(f'{quoted(f.name)}:{type_sql(f.dataType)}' for f in data_type.fields)}>"
    if isinstance(data_type, ArrayType):
        return f"array<{type_sql(data_type.elementType)}>"
    if isinstance(data_type, MapType):
        return f"map<{type_sql(data_type.keyType)},{type_sql(data_type.valueType)}>"
    return str(data_type.simpleString())
