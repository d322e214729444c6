"""Rows without ids, told apart by their values: equal rows are copies, numbered 1, 2, …

For queries that no rule covers: the difference of two bags (EXCEPT ALL both ways).
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql.types import DataType

from dbt.adapters.streamspark.changes.differentiate.delta import UNVERSIONED, Delta
from dbt.adapters.streamspark.changes.equal_values import comparable
from dbt.adapters.streamspark.changes.identity import identity

ONCE_BEFORE = ("count(*) as __n0", "0L as __n1")
ONCE_AFTER = ("0L as __n0", "count(*) as __n1")


def told_apart(columns: Sequence[str], types: Sequence[DataType], relation: str) -> str:
    """The relation with a column `__tuple` that is equal where all values are."""
    values = [comparable(name, data_type) for name, data_type in zip(columns, types, strict=True)]
    return f"(select *, {identity(values)} as __tuple from {relation})"


def numbered(columns: Sequence[str], types: Sequence[DataType], relation: str) -> str:
    """SQL of the rows with an `__id`: the values, and the number of the copy."""
    number = "row_number() over (partition by __tuple order by __tuple)"
    listed = ", ".join((*columns, f"concat(__tuple, '.', {number}) as __id"))
    return f"select {listed} from {told_apart(columns, types, relation)}"


def bag_difference(columns: Sequence[str], types: Sequence[DataType], before: str, after: str) -> Delta:
    """What `after` has more often than `before`, and less often.

    Each side is counted by itself: Spark cannot unite two queries with a correlated EXISTS among their columns (it
    looks for the subquery's own columns in the union), but can unite their groups.
    """
    values = [f"any_value({name}) as {name}" for name in columns]
    sides = " union all ".join(
        f"select {', '.join(['__tuple', *values, *counts])} from {told_apart(columns, types, rows)} group by __tuple"
        for rows, counts in ((before, ONCE_BEFORE), (after, ONCE_AFTER))
    )
    counts = ["sum(__n0) as __n0", "sum(__n1) as __n1"]
    counted = f"select {', '.join(['__tuple', *values, *counts])} from ({sides}) group by __tuple"
    copies = "explode(sequence(least(__n0, __n1) + 1, greatest(__n0, __n1))) __copies as __copy"
    made = [
        "concat(__tuple, '.', __copy) as __id",
        "if(__n0 > __n1, -1, 1) as __sign",
        "if(__n0 > __n1, '0', '1') as __ord",
    ]
    listed = ", ".join((*columns, *made, *UNVERSIONED))
    return Delta(f"(select {listed} from (select * from ({counted}) q where __n0 <> __n1) lateral view {copies})")
