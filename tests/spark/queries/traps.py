"""How a trap is tried: its changes against the oracle, and as rows to compare one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt.adapters.streamspark.changes import changes
from tests.spark.queries.history import History
from tests.spark.queries.oracle import check_found, of_rows
from tests.spark.queries.oracle import check_ledger as whole_ledger


def check_ledger(history: History, query: str, points: Sequence[int]) -> None:
    """Interval after interval; that they compose is for the operators' and the random queries' tests."""
    try:
        whole_ledger(history, query, points, whole=False)
    except AssertionError as error:
        raise AssertionError(f"{query}: {error}") from error


def of(history: History, query: str, start: int = 0, end: int = 1) -> list[tuple[Any, ...]]:
    """(kind, values…) of the changes between two points, sorted; checked by the oracle, too."""
    rows = changes(history.session, query, history.points[start], history.points[end]).collect()
    check_found(history, query, start, end, of_rows(rows))
    return sorted(((row[-4], *row[:-4]) for row in rows), key=repr)
