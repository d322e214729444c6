"""The columns of a model's SELECT and of its target, as the SQL of apply_changes needs them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pyspark.sql.types import DataType, StructType

from dbt.adapters.streamspark.changes.equal_values import comparable
from dbt.adapters.streamspark.changes.projection import quoted, type_sql
from dbt.adapters.streamspark.literals import literal


@dataclass(frozen=True)
class Column:
    """A column of the model's SELECT or of the target: name and Spark SQL type."""

    name: str
    type: str
    data_type: DataType | None = field(default=None, compare=False, repr=False)

    @property
    def quoted(self) -> str:
        return quoted(self.name)

    @property
    def comparable(self) -> bool:
        """Maps have no equality in Spark."""
        return "map<" not in self.type.lower() and "variant" not in self.type.lower()

    def of(self, relation: str) -> str:
        """The column of a relation or struct, such as "t.`id`"."""
        return f"{relation}.{self.quoted}"

    def facts(self, value: str) -> str:
        """SQL of a value of the column as something that `<=>` takes, whatever the type."""
        return value if self.data_type is None else comparable(value, self.data_type)


def columns_of(schema: StructType) -> tuple[Column, ...]:
    """Name and type of each column, in order, whatever characters the names hold."""
    return tuple(Column(field.name, type_sql(field.dataType), field.dataType) for field in schema.fields)


def struct(values: Iterable[tuple[Column, str]]) -> str:
    """A struct that has these columns with these values."""
    return f"named_struct({', '.join(f'{literal(column.name)}, {value}' for column, value in values)})"


def struct_type(columns: Iterable[Column]) -> str:
    """The type of such a struct."""
    return f"struct<{','.join(f'{column.quoted}:{column.type}' for column in columns)}>"
