"""The columns of groups that a table keeps, by how they take up what an interval adds (additive.py)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """A column of the result by which rows are grouped; `sql` is over the child's columns."""

    column: str
    sql: str


@dataclass(frozen=True)
class Addend:
    """A column of the result that counts the values of `sql` or, where `values` names the column that counts them,
    adds them up. `type` is the column's."""

    column: str
    sql: str
    type: str
    values: str = ""

    @property
    def addend_type(self) -> str:
        """Of a value and its opposite: that of the least bigint is none."""
        return "decimal(19,0)" if self.type == "bigint" else self.type

    @property
    def added_type(self) -> str:
        """Of what an interval adds to a sum, which must fit, where that need not: an old value and a new one differ by
        more than the greatest bigint."""
        return "decimal(29,0)" if self.type == "bigint" else self.type


@dataclass(frozen=True)
class Mean:
    """A column of the result that is the average of the values of `sql`; `total`, of type `total_type`, and `values`
    are the columns that keep their sum and their number."""

    column: str
    sql: str
    type: str
    total: str
    total_type: str
    values: str

    @property
    def sum(self) -> Addend:
        """The sum as a column like others."""
        return Addend(self.total, self.sql, self.total_type, self.values)


@dataclass(frozen=True)
class Extreme:
    """A column of the result that is the least or the greatest of the values of `sql`: `function` is min or max."""

    column: str
    sql: str
    function: str

    @property
    def of_two(self) -> str:
        """The function of two values, of which NULL is neither."""
        return {"min": "least", "max": "greatest"}[self.function]


Part = Key | Addend | Mean | Extreme
