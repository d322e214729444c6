"""What a change set has to be, whatever computed it (docs/concepts/change-queries.md).

The ledger holds a query's rows by row id. It is opened with the rows at one point, and every change set is applied
to it as a reader would: an insert must be of an id that is not there, a delete or the first half of an update must
name a row that is there as it is. After each, the ledger's rows must be what Spark answers at that point. This holds
all of: no change is missing or too many, ids are unique per side and stable from one interval to the next, updates
are pairs, and intervals compose.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Any

from pyspark.sql import DataFrame, Row

from dbt.adapters.streamspark.changes import changes
from dbt.adapters.streamspark.changes.bag_changes import bag_changes
from dbt.adapters.streamspark.changes.change_query import ChangeQuery, QueryInterval
from dbt.adapters.streamspark.changes.changes import read_changes
from tests.spark.queries.history import History

MINUS = ("delete", "update_preimage")
PLUS = ("insert", "update_postimage")
METADATA = 4  # the last columns, of the delta dialect


def shown(values: Iterable[Any]) -> str:
    """A row as text: NaN equals NaN, floats to twelve digits, since sums depend on the order of their parts."""
    return repr(tuple(_plain(value) for value in values))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else float(f"{value:.12g}") + 0.0  # no minus zero
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Row | tuple | list):
        return tuple(_plain(part) for part in value)
    if isinstance(value, dict):
        return sorted((repr(_plain(k)), repr(_plain(v))) for k, v in value.items())
    return bytes(value) if isinstance(value, bytearray) else value


@dataclass(frozen=True)
class Change:
    kind: str
    row_id: str
    values: str

    @property
    def is_minus(self) -> bool:
        return self.kind in MINUS


def read(frame: DataFrame) -> list[Change]:
    """A change set of the delta dialect."""
    return of_rows(frame.collect())


def of_rows(rows: Iterable[Row]) -> list[Change]:
    return [Change(row[-METADATA], row[-1], shown(row[:-METADATA])) for row in map(tuple, rows)]


def bag(rows: Iterable[Row]) -> Counter[str]:
    return Counter(shown(row) for row in rows)


def check_change_set(found: Sequence[Change]) -> None:
    """What can be said of a change set by itself."""
    minus = {change.row_id: change for change in found if change.is_minus}
    plus = {change.row_id: change for change in found if not change.is_minus}
    assert len(minus) + len(plus) == len(found), f"an id twice on one side: {_twice(found)}"
    for change in found:
        assert change.kind in (*MINUS, *PLUS)
        paired = change.row_id in minus and change.row_id in plus
        assert paired == change.kind.startswith("update"), f"the type does not fit the pair: {change}"
    for row_id in minus.keys() & plus.keys():
        assert minus[row_id].values != plus[row_id].values, f"nothing changed: {minus[row_id]}"


def _twice(found: Sequence[Change]) -> list[Change]:
    counts = Counter((change.row_id, change.is_minus) for change in found)
    return [change for change in found if counts[change.row_id, change.is_minus] > 1]


@dataclass
class Ledger:
    """A query's rows by id at one point."""

    rows: dict[str, str] = field(default_factory=dict)

    def apply(self, found: Sequence[Change]) -> None:
        check_change_set(found)
        for change in found:
            if change.is_minus:
                assert self.rows.get(change.row_id) == change.values, f"{change}, but the row is {self._of(change)}"
            elif change.kind == "insert":
                assert change.row_id not in self.rows, f"{change}, but there is {self._of(change)}"
        for change in sorted(found, key=lambda one: not one.is_minus):
            if change.is_minus:
                del self.rows[change.row_id]
            else:
                self.rows[change.row_id] = change.values

    def _of(self, change: Change) -> str | None:
        return self.rows.get(change.row_id)

    def check(self, expected: Counter[str]) -> None:
        held = Counter(self.rows.values())
        assert held == expected, f"missing {expected - held}, too many {held - expected}"


def apply_to_bag(before: Counter[str], found: Sequence[Change]) -> Counter[str]:
    after = before.copy()
    after.subtract(change.values for change in found if change.is_minus)
    after.update(change.values for change in found if not change.is_minus)
    assert all(count >= 0 for count in after.values()), f"removed what was not there: {-after}"
    return +after


def interval_of(history: History, query: str, start: int, end: int) -> QueryInterval:
    asked = ChangeQuery(history.session, query)
    return asked.interval(asked.frontier(history.points[start]), asked.frontier(history.points[end]))


def check_interval(history: History, query: str, start: int, end: int, **options: Any) -> list[Change]:
    """One interval by itself: what was there, and the changes, make what is there."""
    found = read(changes(history.session, query, history.points[start], history.points[end], **options))
    check_found(history, query, start, end, found)
    return found


def check_found(history: History, query: str, start: int, end: int, found: Sequence[Change]) -> None:
    check_change_set(found)
    after = apply_to_bag(bag(history.at(query, start)), found)
    expected = bag(history.at(query, end))
    assert after == expected, f"missing {expected - after}, too many {after - expected}"


def check_bag(history: History, query: str, start: int, end: int) -> Counter[str] | None:
    """The changes as a bag: by what every value came more (above 0) or less often; None where there are none such."""
    interval = interval_of(history, query, start, end)
    frame = bag_changes(interval, interval.lowered.schema.names[:1])
    if frame is None:
        return None
    found, expected = bag(history.at(query, start)), bag(history.at(query, end))
    expected.subtract(found)
    changed: Counter[str] = Counter()
    for *values, kind in frame.collect():
        changed[shown(values)] += {"insert": 1, "delete": -1}[kind]
    changed, expected = (
        Counter({value: count for value, count in some.items() if count}) for some in (changed, expected)
    )
    assert changed == expected, f"changed {dict(changed)}, but the bags differ by {dict(expected)}"
    return changed


def check_everything(history: History, query: str) -> list[str]:
    """Of the intervals between three points, by rows and by value; returns what has no rule."""
    check_ledger(history, query, (0, 1, 2))
    check_bag(history, query, 0, 2)
    return list(interval_of(history, query, 0, 2).fallbacks)


def check_ledger(history: History, query: str, points: Sequence[int], whole: bool = True) -> list[Change]:
    """Interval after interval and, with `whole`, the whole way in one; returns the changes of the last asked for."""
    asked = ChangeQuery(history.session, query)
    frontiers = {point: asked.frontier(history.points[point]) for point in points}
    ledger = Ledger()
    ledger.apply(read(read_changes(asked.interval(None, frontiers[points[0]]))))
    ledger.check(bag(history.at(query, points[0])))
    opened, found = dict(ledger.rows), []
    for start, end in pairwise(points):
        found = read(read_changes(asked.interval(frontiers[start], frontiers[end])))
        ledger.apply(found)
        ledger.check(bag(history.at(query, end)))
    if whole and len(points) > 2:
        at_once = Ledger(opened)
        found = read(read_changes(asked.interval(frontiers[points[0]], frontiers[points[-1]])))
        at_once.apply(found)
        assert at_once.rows == ledger.rows, "the intervals do not compose"
    return found
