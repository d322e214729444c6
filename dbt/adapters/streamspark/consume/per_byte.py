"""How many times as long a byte that changed takes as one that a rebuild reads: it is read, looked up at the far ends,
merged and committed (decision 0027)."""

from __future__ import annotations

from typing import NamedTuple

from dbt.adapters.streamspark.changes.query.algebra import (
    Filter,
    Generate,
    Join,
    Operator,
    Project,
    Scan,
    Text,
    UnionAll,
)

ROW_BY_ROW = (Scan, Text, Project, Filter, Generate, Join, UnionAll)


class PerByte(NamedTuple):
    """Where what changed lies `together`, and where it is `scattered` over all files: its keys are too, so that looking
    them up reads all files."""

    together: float
    scattered: float


ALONE = PerByte(6.0, 25.0)
ADDED = PerByte(6.0, 30.0)
GROUPS, MANY_GROUPS = PerByte(12.0, 30.0), PerByte(30.0, 30.0)


def per_byte(query: Operator, added: bool, many: bool) -> PerByte:
    """Of a query whose rows change by themselves; whose changes are `added` to the target's groups; or whose groups,
    windows and matches are read again where one of their rows changed, which shuffles them where so `many` rows changed
    that the driver does not hold them."""
    if added:
        return ADDED
    if all(isinstance(operator, ROW_BY_ROW) for operator in query.walk()):
        return ALONE
    return MANY_GROUPS if many else GROUPS
