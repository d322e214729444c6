"""What a target must hold, from the source's states at the points that its log says were consumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.faults.harness.source import Change, Source, State, changes_between, grouped
from tests.faults.harness.strategies import OWN_QUERY, Place
from tests.faults.harness.target_log import Entry, consumptions

Rows = Iterable[tuple[Any, ...]]


def check(spark: SparkSession, place: Place, path: Path, source: Source, chained: bool = True) -> None:
    """The target holds every change exactly once, up to the newest; `chained`: and its log tells how they came there.
    Raises AssertionError."""
    entries = consumptions(path, place.consumer)
    whole = place.strategy in OWN_QUERY
    made = [number for number, entry in enumerate(entries) if whole and entry.start is None]
    since = entries[made[-1] :] if made else entries
    points = [{}, *(source.at(entry.end) for entry in since)]
    CHECKS.get(place.strategy, _copy)(spark, place, points, since)
    assert points[-1] == source.states[-1], "the newest consumption ends before the source does"
    if chained:
        check_chain(entries, made)


def check_chain(entries: Sequence[Entry], made: Sequence[int] = ()) -> None:
    """Consumptions count 1, 2, 3 …, Delta knows each by its number, and each begins where the one before it ended. Those
    at the places `made` made the table: where a process dies between the commit of CREATE and the catalog, the next run
    of a model on its own query finds no table, and makes it whole again."""
    assert [entry.n for entry in entries] == list(range(1, len(entries) + 1)), "numbers of the consumptions"
    assert all(entry.transactions == (entry.n,) for entry in entries), "transactions of the consumptions"
    starts, ends = [entry.start for entry in entries], [None, *(entry.end for entry in entries[:-1])]
    expected = [None if number in made else end for number, end in enumerate(ends)]
    assert starts == expected, "each consumption begins where the one before it ended"


def same(found: Rows, expected: Rows, what: str) -> None:
    """As bags. Says what is lost (missing) and what is doubled (too much)."""
    found, expected = Counter(map(tuple, found)), Counter(map(tuple, expected))
    assert found == expected, f"{what}: missing {_some(expected - found)}, too much {_some(found - expected)}"


def _some(rows: Counter[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows.elements(), key=repr)[:5]


def _copy(spark: SparkSession, place: Place, points: list[State], entries: list[Entry]) -> None:
    found = spark.sql(f"select id, k, v from {place.target}").collect()
    same(found, points[-1].values(), place.strategy)


def _groups(spark: SparkSession, place: Place, points: list[State], entries: list[Entry]) -> None:
    """A group that is empty now may be there, with nothing in it."""
    found = spark.sql(f"select k, n, total from {place.target} where n <> 0 or total <> 0").collect()
    same(found, grouped(points[-1]), place.strategy)


def _changes(spark: SparkSession, place: Place, points: list[State], entries: list[Entry]) -> None:
    found = spark.sql(f"select _change_type, id, k, v from {place.target}").collect()
    same(found, [change for part in intervals(points) for change in part], place.strategy)


def _table(spark: SparkSession, place: Place, points: list[State], entries: list[Entry]) -> None:
    """Made anew by each consumption, so its versions together hold everything. The last three are looked at: those
    before were, after earlier crashes."""
    for entry, part in list(zip(entries, intervals(points), strict=True))[-3:]:
        sql = f"select _change_type, id, k, v from {place.target} version as of {entry.version}"
        same(spark.sql(sql).collect(), part, f"{place.strategy} at version {entry.version}")


def _history(spark: SparkSession, place: Place, points: list[State], entries: list[Entry]) -> None:
    """Each change begins a version or ends one; the versions of a key follow each other without a gap."""
    found = spark.sql(f"select id, v, is_current, valid_from, valid_to from {place.target}").collect()
    same([row[:3] for row in found], _versions(points), place.strategy)
    for key in {row["id"] for row in found}:
        versions = sorted((row for row in found if row["id"] == key), key=lambda row: row["valid_from"])
        assert all(one["valid_to"] == two["valid_from"] for one, two in pairwise(versions)), f"versions of {key}"


def _versions(points: list[State]) -> Rows:
    versions = {change[1::2] for part in intervals(points) for change in part if change[0] in BEGINS}
    return [(key, value, points[-1].get(key, (0, 0, None))[2] == value) for key, value in versions]


BEGINS = ("insert", "update_postimage")
CHECKS: dict[str, Callable[[SparkSession, Place, list[State], list[Entry]], None]] = {
    "merge": _groups,
    "differential": _groups,
    "changes": _changes,
    "table": _table,
    "apply_changes 2": _history,
}


def intervals(points: list[State]) -> list[list[Change]]:
    return [changes_between(before, after) for before, after in pairwise(points)]
