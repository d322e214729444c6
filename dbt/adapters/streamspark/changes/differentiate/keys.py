"""Keys that a delta touches, and the rows of a relation that have them.

Few keys are written into the SQL as literals, so that Delta and Parquet skip files and row groups; of many, the ranges
that they lie in are, and a semi join does the rest (docs/concepts/change-queries.md). Of more than the driver holds,
Spark finds the ranges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.functions import bool_or, collect_set, isnull, struct
from pyspark.sql.types import (
    ByteType,
    DataType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
)

from dbt.adapters.streamspark.changes.differentiate.clusters import Ranges, clusters
from dbt.adapters.streamspark.changes.differentiate.key_ranges import NO_SUCH_DAY, key_ranges
from dbt.adapters.streamspark.changes.differentiate.local_rows import Kept
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.literals import literal

LISTED = 64
FEW = 10_000  # of so many rows a job that makes them one takes about as long as Python takes to make them all
PLAIN = (ByteType, ShortType, IntegerType, LongType, DateType, DecimalType, StringType)
_ESCAPED = re.compile(r"['\\]|\$\{")
GARBLED = "\ufffd"
INTEGRAL = (ByteType, ShortType, IntegerType, LongType)


@dataclass(frozen=True)
class Column:
    """The values of one key column: all of them, where the driver has them and SQL can write them, else the `ranges` in
    which they lie, first and last value of each. None where neither is known. `has_null`: NULL is one of them."""

    data_type: DataType
    values: tuple[Any, ...] | None
    ranges: Ranges | None = None
    has_null: bool = False

    def test(self, expression: str) -> str | None:
        """A predicate that every row with one of the keys passes; None where there is none to write. `expression`: a
        name, or in parentheses."""
        if self.values is None and self.ranges is None:
            return None
        null = [f"{expression} is null"] if self.has_null else []
        return f"({' or '.join([*self._known(expression), *null]) or 'false'})"

    @property
    def is_exact(self) -> bool:
        """Whether the test passes no other row."""
        return self.values is not None and len(self.values) <= LISTED

    @property
    def in_short(self) -> Column:
        """The same without its values; the ranges in which they lie remain."""
        return self if self.values is None else replace(self, values=None, ranges=self.spans)

    @property
    def equals(self) -> str:
        """What compares with one of these: `=` where NULL is none, which Spark hashes as the number that it is, and
        `<=>` as a row of two."""
        return "=" if self.never_null else "<=>"

    @property
    def never_null(self) -> bool:
        """Whether none of the values is NULL, as far as that is known."""
        return (self.values is not None or self.ranges is not None) and not self.has_null

    @cached_property
    def spans(self) -> Ranges:
        """First and last of the values that pass the test, NULL aside: where it is exact, each value is a range of its
        own."""
        known = [value for value in self.values or () if value is not None]
        if self.is_exact:
            return [(value, value) for value in known]
        return _ranges(known) if self.ranges is None else self.ranges

    def _known(self, expression: str) -> list[str]:
        spans = self.spans
        if spans and self.is_exact:
            return [f"{expression} in ({', '.join(self._literal(value) for value, _ in spans)})"]
        return [f"{expression} between {self._literal(least)} and {self._literal(most)}" for least, most in spans]

    def _literal(self, value: int | str | date | Decimal) -> str:
        if isinstance(value, str):
            return _text(value)
        return f"cast({literal(value)} as {self.data_type.simpleString()})"


def _text(value: str) -> str:
    """What needs an escape is written by its bytes: with spark.sql.parser.escapedStringLiterals there is none."""
    return f"cast(X'{value.encode().hex()}' as string)" if _ESCAPED.search(value) else literal(value)


def _ranges(known: Sequence[Any]) -> Ranges:
    """Spark orders texts by their bytes."""
    if known and isinstance(known[0], str):
        return [(min(known, key=str.encode), max(known, key=str.encode))]
    return clusters(sorted(known))


Narrows = Callable[[str, Column], bool]  # of an expression, and the values that its test lets pass


def always(expression: str, column: Column) -> bool:
    return True


@dataclass(frozen=True)
class Keys:
    """Distinct keys: `relation` has them in columns `__k0`, `__k1`, …; `columns` is what is known of each."""

    relation: str
    columns: tuple[Column, ...]
    is_empty: bool = False

    def restrict(self, rows: str, expressions: Sequence[str], narrows: Narrows = always) -> str:
        """The rows of a relation whose `expressions` are one of the keys, NULL being equal to NULL; `narrows` as in
        having."""
        if len(self.columns) == 1 and self.columns[0].is_exact:
            return having(rows, self.columns, expressions)
        tested = having(rows, self.columns, expressions, narrows)
        pairs = enumerate(zip(expressions, self.columns, strict=True))
        equal = " and ".join(f"({expression}) {column.equals} __k{place}" for place, (expression, column) in pairs)
        return f"(select q.* from {tested} q left semi join {self.relation} on {equal})"


def having(rows: str, columns: Sequence[Column], expressions: Sequence[str], narrows: Narrows = always) -> str:
    """The rows of a relation that pass the tests of the key columns: all that have a key, and maybe others. Of a test
    that does not narrow what is read nothing is written. The relation needs a name: without one Spark takes
    `where (false)` for its name and column."""
    pairs = [pair for pair in zip(expressions, columns, strict=True) if narrows(*pair)]
    tests = (column.test(f"({expression})") for expression, column in pairs)  # `a and b` is one operand
    written = [test for test in tests if test is not None]
    return f"(select * from {rows} q where {' and '.join(written)})" if written else rows


def known_columns(kept: Kept) -> tuple[Column, ...]:
    """What is known of each column of keys that were computed; of those that the driver holds up to FEW are read
    without a job."""
    fields = kept.frame.schema.fields
    plain = [field.name for field in fields if plain_type(field.dataType)]
    known = _values(kept, plain) if kept.is_small and plain else {}
    large = plain if not kept.is_small and kept.count is not None else []
    return tuple(_column(kept.frame, field, known.get(field.name), field.name in large) for field in fields)


def _column(frame: DataFrame, field: StructField, values: tuple[Any, ...] | None, large: bool) -> Column:
    if large:
        ranges, has_null = key_ranges(frame, field.name)
        return Column(field.dataType, None, None if any(map(_are_garbled, ranges or ())) else ranges, has_null)
    if values is not None and _are_garbled(values):
        return Column(field.dataType, None)
    return Column(field.dataType, values, has_null=values is not None and None in values)


def _are_garbled(values: Sequence[Any]) -> bool:
    """Whether one of the texts may have bytes that are no UTF-8, for which Python gets GARBLED: a literal of what it
    got is equal to none of Spark's."""
    return any(isinstance(value, str) and GARBLED in value for value in values)


def _values(kept: Kept, names: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """The distinct values of these columns, NULL being one; of none where one is a day that Python does not know."""
    frame = kept.frame.select(*map(quoted, names))
    try:
        return _of_many(frame, names) if (kept.count or 0) > FEW else _of_few(frame, names)
    except NO_SUCH_DAY:
        return {}


def _of_few(frame: DataFrame, names: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    rows = frame.collect()
    return {name: tuple({row[place] for row in rows}) for place, name in enumerate(names)}


def _of_many(frame: DataFrame, names: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """One row is collected that has them all: Python takes 10 us to make a row, and its garbage collector a long look
    at so many. One task makes it sooner than two can send one another what they have found."""
    row = (
        frame.coalesce(1)
        .agg(*(struct(collect_set(quoted(name)), bool_or(isnull(quoted(name)))) for name in names))
        .first()
    )
    assert row is not None
    return {name: (*some, *([None] if null else [])) for name, (some, null) in zip(names, row, strict=True)}


def plain_type(data_type: DataType) -> bool:
    """Whether values of the type can be written into SQL, and compare there as they do in Python."""
    if isinstance(data_type, StringType):
        return type(data_type) is StringType and data_type.isUTF8BinaryCollation()
    return isinstance(data_type, PLAIN)


def comparable_types(left: DataType, right: DataType) -> bool:
    """Whether `=` compares values of the two types without making something else of one of them."""
    return left == right or (isinstance(left, INTEGRAL) and isinstance(right, INTEGRAL))
