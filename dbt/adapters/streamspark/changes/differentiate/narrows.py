"""Whether a look at a table is spared anything by a test of where a key lies."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from pyspark.sql.types import DateType, DecimalType, StringType

from dbt.adapters.streamspark.changes.differentiate.keys import INTEGRAL, Column
from dbt.adapters.streamspark.changes.log import Action

# A test takes its time for each row, and new code for each run, since its bounds are part of it; where more than this
# share of the rows passes, the join that follows does without it.
MOST = 0.75


def narrows(key: Column, name: str, files: Sequence[Action]) -> bool:
    """Whether the test of the column `name` leaves out enough of the rows of `files` (add actions), their values taken
    to lie evenly between the bounds that the statistics tell. True where these do not tell.

    >>> from pyspark.sql.types import LongType
    >>> files = [{"stats": '{"numRecords":9,"minValues":{"id":0},"maxValues":{"id":999}}'}]
    >>> [narrows(Column(LongType(), None, ranges), "id", files) for ranges in ([(3, 990)], [(0, 9), (900, 950)])]
    [False, True]
    """
    every, tested = _rows(key, [*_bounds(key, name.lower(), files)])
    return tested <= MOST * every


def spared(key: Column, name: str, files: Sequence[Action]) -> int:
    """How many of the rows that pass the test of the column `name`, or of all where it does not narrow, have none of
    the key's values. 0 where nothing tells: values that are no whole numbers or days, unknown, or so few that the test
    tells them, or NULL among them.

    >>> from pyspark.sql.types import LongType
    >>> files = [{"stats": '{"numRecords":900,"minValues":{"id":0},"maxValues":{"id":899}}'}]
    >>> spared(Column(LongType(), tuple(range(0, 900, 9))), "id", files)
    800
    """
    if key.values is None or key.is_exact or key.has_null or not isinstance(key.data_type, (*INTEGRAL, DateType)):
        return 0
    bounds, points = [*_bounds(key, name.lower(), files)], sorted(map(_number, key.values))
    every, tested = _rows(key, bounds)
    in_set = sum(rows * _share_of(points, _number(least), _number(most)) for rows, least, most in bounds)
    return round((tested if tested <= MOST * every else every) - in_set)


def _share_of(points: Sequence[float], least: float, most: float) -> float:
    """Which share of the whole numbers from `least` to `most` is one of the ordered `points`."""
    return min(1, (bisect_right(points, most) - bisect_left(points, least)) / (most - least + 1))


def _rows(key: Column, bounds: Sequence[tuple[int, Any, Any]]) -> tuple[int, float]:
    """How many rows there are, and how many of them pass the test."""
    tested = sum(rows * _share(key, least, most) for rows, least, most in bounds)
    return sum(rows for rows, _, _ in bounds), tested


def _bounds(key: Column, name: str, files: Sequence[Action]) -> Iterator[tuple[int, Any, Any]]:
    """Of each file that tells: how many rows it has, and their least and largest value."""
    for file in files:
        stats = json.loads(file.get("stats") or "{}")
        least, most = (_bound(key, name, stats.get(side, {})) for side in ("minValues", "maxValues"))
        if least is not None and most is not None:
            yield stats["numRecords"], least, most


def _share(key: Column, least: Any, most: Any) -> float:
    """Which share of the values from `least` to `most` passes the test. A text cannot be divided: all or none."""
    if isinstance(least, str):
        return float(any(first <= least and most <= last for first, last in key.spans))
    unit = 0 if isinstance(key.data_type, DecimalType) else 1  # days and whole numbers are counted
    low, high = _number(least), _number(most) + unit
    pairs = [(max(low, _number(first)), min(high, _number(last) + unit)) for first, last in key.spans]
    met = [last - first for first, last in pairs if first <= last]
    return sum(met) / (high - low) if high > low else float(bool(met))


def _number(value: Any) -> float:
    return float(value.toordinal() if isinstance(value, date) else value)


def _bound(key: Column, name: str, bounds: dict[str, Any]) -> Any:
    """Of the key's own kind; None where there is none, or the column is of another one."""
    found = {column.lower(): value for column, value in bounds.items()}.get(name)
    if isinstance(key.data_type, DateType):
        return _day(found)
    kind = str if isinstance(key.data_type, StringType) else (int, float)
    return found if isinstance(found, kind) else None


def _day(found: Any) -> date | None:
    """Delta writes days as texts. Python has none after the year 9999."""
    try:
        return date.fromisoformat(found) if isinstance(found, str) else None
    except ValueError:
        return None
