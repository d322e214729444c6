"""apply_changes with an order, on real tables, against an independent reference in plain Python (tests/scd_reference.py).

A case is a random history of many keys, told in rounds whose events come in any order, some of them twice. After each round
the table must be what the reference makes of all events so far, and in the end what a table made anew would be.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.changes_applied import changes_applied
from dbt.adapters.streamspark.consume.columns import columns_of
from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from tests.scd_reference import Event, Version, histories

COLUMNS = ("v", "a `b`", "select")
KEYS = [(number, name) for number in (None, *range(14)) for name in (None, "x")]
MAPPED = "tblproperties ('delta.columnMapping.mode' = 'name')"
METADATA = "_change_type string, _commit_version bigint, _commit_timestamp timestamp, _row_id string"


@dataclass
class Target:
    """A table and the temporary view that the changes come in."""

    spark: SparkSession
    config: ScdConfig
    table: str = field(default_factory=lambda: f"scd.t{uuid4().hex}")
    view: str = field(default_factory=lambda: f"changes_{uuid4().hex}")
    made: bool = False

    def apply(self, rows: Sequence[tuple[Any, ...]], schema: str) -> None:
        """One run of the model over these change rows."""
        self.spark.createDataFrame(list(rows), schema).createOrReplaceTempView(self.view)
        columns = columns_of(self.spark.table(self.view).schema)
        sql = changes_applied("model.t.m", self.view, columns, self.config)
        if self.made:
            self.spark.sql(sql.merge(self.table, list(columns_of(self.spark.table(self.table).schema))))
        else:
            self.spark.sql("create schema if not exists scd")
            self.spark.sql(f"create table {self.table} using delta {MAPPED} as {sql.upserts()}")
            self.made = True

    def rows(self, columns: str = "*") -> list[tuple[Any, ...]]:
        found = self.spark.sql(f"select {columns} from {self.table}").collect()
        return by_text(tuple(row) for row in found)


def by_text(rows: Iterator[tuple[Any, ...]] | Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=repr)


# events that somebody wrote down, in a table to which rows are only added

EVENTS = f"`k 1` int, `order` string, op string, ts int, v int, `a ``b``` string, `select` int, given array<string>, {METADATA}"
DATA = "`k 1`, `order`, v, `a ``b```, `select`"
EVENT_CONFIG = {
    "unique_key": ("k 1", "ORDER"),
    "sequence_by": "ts",
    "apply_as_deletes": "op = 'D' -- a comment",
    "except_columns": ("op", "ts", "given"),
}


def random_events(chance: random.Random, partial: str) -> list[Event]:
    """Up to eight events of each key, at places of its own. `partial`: nulls or list, if a row may leave columns alone."""
    events = []
    for key in KEYS:
        for seq in chance.sample(range(30), chance.randint(1, 8)):
            if chance.random() < 0.25:
                events.append(Event(key, seq))
                continue
            values = {"v": chance.choice((None, 1, 2)), "a `b`": chance.choice((None, "p")), "select": chance.choice((1, 2))}
            given = frozenset(name for name in values if values[name] is not None) if partial == "nulls" else None
            if partial == "list" and chance.random() < 0.7:
                given = frozenset(name for name in values if chance.random() < 0.5)
            events.append(Event(key, seq, values, given))
    return events


def told(event: Event, number: int) -> tuple[Any, ...]:
    values = event.values or dict.fromkeys(COLUMNS)
    given = None if event.given is None else [name.upper() for name in event.given]
    op = "D" if event.values is None else "U"
    return (*event.key, op, event.seq, *(values[name] for name in COLUMNS), given, "insert", 1, None, str(number))


def rounds_of(chance: random.Random, events: list[Event]) -> Iterator[list[Event]]:
    """All events in four rounds, in any order; some come again later."""
    shuffled = chance.sample(events, len(events))
    for number in range(4):
        again = chance.sample(shuffled[: number * len(events) // 4], number * 3)
        yield shuffled[number * len(events) // 4 : (number + 1) * len(events) // 4] + again


def seen(versions: dict[Any, list[Version]], soft: bool) -> list[tuple[Any, ...]]:
    """Rows of key, values, valid_from, valid_to, is_current, and is_deleted where it is there."""
    return by_text(
        (*key, *(one.values[name] for name in COLUMNS), one.begins, one.ends, one.ends is None, *([one.deleted] * soft))
        for key, history in versions.items()
        for one in history
    )


CASES: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("", {"soft_deletes": True}),
    ("", {"track_history_columns": ("v",)}),
    ("nulls", {"ignore_null_updates": True, "track_history_except_columns": ("SELECT",)}),
    ("list", {"columns_to_update": "given"}),
    ("list", {"columns_to_update": "given", "soft_deletes": True, "track_history_columns": ("v", "select")}),
]


@pytest.mark.parametrize(("partial", "config"), CASES, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_history_of_events(spark: SparkSession, seed: int, partial: str, config: dict[str, Any]) -> None:
    chance, soft = random.Random(seed), config.get("soft_deletes", False)
    target, anew = (Target(spark, ScdConfig(scd_type=2, **EVENT_CONFIG, **config)) for _ in range(2))
    so_far: list[Event] = []
    for number, events in enumerate(rounds_of(chance, random_events(chance, partial))):
        so_far += events
        target.apply([told(event, number) for event in events], EVENTS)
        wanted = seen(expected_history(so_far, config), soft)
        names = f"{DATA}, valid_from, valid_to, is_current{', is_deleted' if soft else ''}"
        found = target.rows(names)
        place = len(KEYS[0]) + len(COLUMNS)
        assert [row for row in found if row[place] != row[place + 1]] == wanted
        tombstones = {row[:2] for row in found if row[place] == row[place + 1]}
        assert tombstones == (set() if soft else {event.key for event in so_far} - {row[:2] for row in wanted})
    anew.apply([told(event, 0) for event in so_far], EVENTS)
    assert anew.rows() == target.rows()


def expected_history(events: list[Event], config: dict[str, Any]) -> dict[Any, list[Version]]:
    tracked = config.get("track_history_columns")
    if "track_history_except_columns" in config:
        tracked = ("v", "a `b`")
    return histories(set_of(events), COLUMNS, tracked, config.get("soft_deletes", False))


def set_of(events: list[Event]) -> list[Event]:
    return list({(event.key, event.seq): event for event in events}.values())


CURRENT: list[tuple[str, dict[str, Any]]] = [
    ("", {"soft_deletes": True}),
    ("", {"soft_deletes": True, "except_columns": ("op", "given")}),
    ("nulls", {"soft_deletes": True, "ignore_null_updates": True}),
    ("list", {"soft_deletes": True, "columns_to_update": "given"}),
]


@pytest.mark.parametrize(("partial", "config"), CURRENT, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_current_rows_of_events(spark: SparkSession, seed: int, partial: str, config: dict[str, Any]) -> None:
    """With soft deletes the target remembers what was deleted, so that nothing that comes late is wrong."""
    chance = random.Random(seed)
    target, anew = (Target(spark, ScdConfig(**{**EVENT_CONFIG, **config})) for _ in range(2))
    so_far: list[Event] = []
    for number, events in enumerate(rounds_of(chance, random_events(chance, partial))):
        so_far += events
        target.apply([told(event, number) for event in events], EVENTS)
        last = {key: versions[-1] for key, versions in histories(set_of(so_far), COLUMNS, soft=True).items()}
        wanted = by_text((*key, *(one.values[name] for name in COLUMNS), one.deleted) for key, one in last.items())
        assert target.rows(f"{DATA}, is_deleted") == wanted
    anew.apply([told(event, 0) for event in so_far], EVENTS)
    assert anew.rows() == target.rows()


@pytest.mark.parametrize("partial", ["", "nulls"])
def test_current_rows_without_memory_of_deletes(spark: SparkSession, partial: str) -> None:
    """Upserts in any order are right; deletes are, as long as nothing older than a delete comes after it."""
    chance = random.Random(7)
    config = {"ignore_null_updates": True} if partial else {}
    target = Target(spark, ScdConfig(**EVENT_CONFIG, **config))
    events = random_events(chance, partial)
    upserts = [event for event in events if event.values is not None]
    deletes = [event for event in events if event.values is None]
    so_far: list[Event] = []
    for number, part in enumerate([*rounds_of(chance, upserts), deletes]):
        so_far += part
        target.apply([told(event, number) for event in part], EVENTS)
        last = {key: versions[-1] for key, versions in histories(set_of(so_far), COLUMNS).items() if versions}
        wanted = (
            (*key, *(one.values[name] for name in COLUMNS)) for key, one in last.items() if one.ends is None
        )
        if number < 4 or not partial:
            assert target.rows(DATA) == by_text(wanted)
