"""Signed rows: what the derivative of an operator is made of.

A delta has the operator's columns and more: `__id`, the row's id; `__sign`, -1 for a row that the start had and 1 for
one that the end has; `__ord`, which puts the changes of one row in the order in which the terms of the rules move from
the start to the end; `__version` and `__image`, the commits that made the change and this image of the row, where one
table's rows come through one by one. The first of a row's changes tells what it was, the last what it is: changes in
between cancel out, whatever their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.streamspark.changes.differentiate.local_rows import Kept

MINUS, PLUS = -1, 1
SIGNED = ("__sign", "__ord", "__version", "__image")
UNVERSIONED = ("cast(null as bigint) as __version", "cast(null as bigint) as __image")


@dataclass(frozen=True)
class Delta:
    """`sql` is a relation for FROM. `minus` and `plus`: whether it can hold rows of that sign. With one of them only,
    no row comes twice, and nothing is left to minimise (the paper's ADDED_ONLY and REMOVED_ONLY). `kept`: its rows,
    where they were computed already. `net`: it is minimal, as it comes from a table's reader."""

    sql: str
    minus: bool = True
    plus: bool = True
    kept: Kept | None = None
    net: bool = False

    @property
    def rows_held(self) -> int | None:
        """How many rows the driver holds of it, if it holds them all."""
        return self.kept.count if self.kept is not None and self.kept.is_small else None

    @property
    def one_sided(self) -> bool:
        return not (self.minus and self.plus)


def signed(columns: Sequence[str], rows: str, sign: int) -> str:
    """Every row of the relation `rows` with one sign."""
    marks = (f"{sign} as __sign", f"'{int(sign == PLUS)}' as __ord", *UNVERSIONED)
    return f"select {', '.join((*columns, '__id', *marks))} from {rows}"


def difference(columns: Sequence[str], before: str, after: str) -> Delta:
    """What was there and what is there: equal pairs cancel when the whole is minimised."""
    return Delta(f"({signed(columns, before, MINUS)} union all {signed(columns, after, PLUS)})")


def union(columns: Sequence[str], deltas: Sequence[Delta]) -> Delta | None:
    """All of the deltas, which have the same columns; None for none."""
    if len(deltas) < 2:
        return deltas[0] if deltas else None
    listed = ", ".join((*columns, "__id", *SIGNED))
    parts = " union all ".join(f"select {listed} from {delta.sql}" for delta in deltas)
    return Delta(f"({parts})", any(d.minus for d in deltas), any(d.plus for d in deltas))
