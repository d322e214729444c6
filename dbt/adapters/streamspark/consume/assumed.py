"""What is taken for granted of a query before its runs have told (decision 0027)."""

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
from dbt.adapters.streamspark.consume.costs import COLD_SHARE

ROW_BY_ROW = (Scan, Text, Project, Filter, Generate, Join, UnionAll)


class Assumed(NamedTuple):
    """How many times as long a byte that changed takes as one that a rebuild reads, since it is read, looked up at the
    far ends, merged and committed: where what changed lies `together`, and where it is `scattered` over all files, and
    its keys too, so that looking them up reads all files. `cold`: up to how many times as long as the changes a first
    rebuild runs again at once, as it may have been slow for its JVM had just started."""

    together: float
    scattered: float
    cold: float


ALONE = Assumed(6.0, 25.0, cold=1.25)
ADDED = Assumed(6.0, 30.0, cold=1.25)
GROUPS, MANY_GROUPS = Assumed(12.0, 30.0, COLD_SHARE), Assumed(30.0, 30.0, COLD_SHARE)


def assumed(query: Operator, added: bool, many: bool) -> Assumed:
    """Of a query whose rows change by themselves; whose changes are `added` to the target's groups; or whose groups,
    windows and matches are read again where one of their rows changed, which shuffles them where so `many` rows changed
    that the driver does not hold them."""
    if added:
        return ADDED
    if all(isinstance(operator, ROW_BY_ROW) for operator in query.walk()):
        return ALONE
    return MANY_GROUPS if many else GROUPS
