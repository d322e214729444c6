"""The minimal form of a delta: of each row what it was and what it is, if they differ (paper, section 3.2.3)."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.differentiate.delta import SIGNED
from dbt.adapters.streamspark.changes.equal_values import comparable

_EVENT = "struct(__sign, __version, __image, __data)"


def netted(columns: Sequence[str], delta: str, schema: StructType) -> str:
    """SQL over the relation `delta` (whose column types are in `schema`): at most one row of each sign per id.
    Returns a delta with one more column, `__paired`: whether the id has a row of the other sign."""
    fields = ", ".join(f"'{name}', {name}" for name in columns)
    data = f"named_struct({fields})" if columns else "named_struct('none', 0)"
    rows = f"select __id, __ord, __sign, __version, __image, {data} as __data from {delta}"
    ends = f"select __id, min_by({_EVENT}, __ord) as f, max_by({_EVENT}, __ord) as l from ({rows}) group by __id"
    paired = "(f.__sign = -1 and l.__sign = 1)"
    kept = f"not ({paired} and {_equal(columns, schema)})"
    changes = ", ".join(
        f"if({end}.__sign = {sign}, named_struct('__sign', {sign}, '__ord', '{number}', '__version', {end}.__version, "
        f"'__image', {end}.__image, '__paired', {paired}, '__data', {end}.__data), null)"
        for number, (end, sign) in enumerate((("f", -1), ("l", 1)))
    )
    listed = ", ".join((*(f"__change.__data.{name}" for name in columns), "__id"))
    more = ", ".join(f"__change.{name}" for name in (*SIGNED, "__paired"))
    exploded = (
        f"select __id, explode(filter(array({changes}), x -> x is not null)) as __change from ({ends}) q where {kept}"
    )
    return f"select {listed}, {more} from ({exploded})"


def _equal(columns: Sequence[str], schema: StructType) -> str:
    types = {field.name: field.dataType for field in schema.fields}
    same = (f"{comparable(f'f.__data.{n}', types[n])} <=> {comparable(f'l.__data.{n}', types[n])}" for n in columns)
    return " and ".join(same) or "true"
