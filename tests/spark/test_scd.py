"""apply_changes with an order, on real tables, against an independent reference in plain Python (tests/scd_reference.py).

A case is a random history of many keys, told in rounds whose events come in any order, some of them twice. After each round
the table must be what the reference makes of all events so far, and in the end what a table made anew would be.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from tests.scd_reference import Event, Version, histories
from tests.scd_target import METADATA, Target, by_text, moment, session_of

SEEDS = range(int(os.environ.get("SCD_SEEDS", "1")))  # more are for a search
ROUNDS = 3
COLUMNS = ("v", "a `b`", "select")
KEYS = [(number, name) for number in (None, *range(14)) for name in (None, "x")]


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    return session_of(spark)


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
            values = {
                "v": chance.choice((None, 1, 2)),
                "a `b`": chance.choice((None, "p")),
                "select": chance.choice((1, 2)),
            }
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
    """All events in rounds, in any order; some come again later."""
    shuffled, part = chance.sample(events, len(events)), -(-len(events) // ROUNDS)
    for number in range(ROUNDS):
        again = chance.sample(shuffled[: number * part], number * 3)
        yield shuffled[number * part : (number + 1) * part] + again


def seen(versions: dict[Any, list[Version]], soft: bool) -> list[tuple[Any, ...]]:
    """Rows of key, values, valid_from, valid_to, is_current, and is_deleted where it is there."""
    return by_text(
        (*key, *(one.values[name] for name in COLUMNS), one.begins, one.ends, one.ends is None, *([one.deleted] * soft))
        for key, history in versions.items()
        for one in history
    )


CASES: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("", {"track_history_columns": ("v",)}),
    ("nulls", {"ignore_null_updates": True, "track_history_except_columns": ("SELECT",)}),
    ("list", {"columns_to_update": "given", "soft_deletes": True, "track_history_columns": ("v", "select")}),
]


@pytest.mark.parametrize(("partial", "config"), CASES, ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_history_of_events(session: SparkSession, seed: int, partial: str, config: dict[str, Any]) -> None:
    chance, soft = random.Random(seed), config.get("soft_deletes", False)
    target, anew = (Target(session, ScdConfig(scd_type=2, **EVENT_CONFIG, **config)) for _ in range(2))
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
    ("", {"soft_deletes": True, "except_columns": ("op", "given")}),
    ("nulls", {"soft_deletes": True, "ignore_null_updates": True}),
    ("list", {"soft_deletes": True, "columns_to_update": "given"}),
]


@pytest.mark.parametrize(("partial", "config"), CURRENT, ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_current_rows_of_events(session: SparkSession, seed: int, partial: str, config: dict[str, Any]) -> None:
    """With soft deletes the target remembers what was deleted, so that nothing that comes late is wrong."""
    chance = random.Random(seed)
    target, anew = (Target(session, ScdConfig(**{**EVENT_CONFIG, **config})) for _ in range(2))
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
def test_current_rows_without_memory_of_deletes(session: SparkSession, partial: str) -> None:
    """Upserts in any order are right; deletes are, as long as nothing older than a delete comes after it."""
    chance = random.Random(7)
    config = {"ignore_null_updates": True} if partial else {}
    target = Target(session, ScdConfig(**EVENT_CONFIG, **config))
    events = random_events(chance, partial)
    upserts = [event for event in events if event.values is not None]
    deletes = [event for event in events if event.values is None]
    so_far: list[Event] = []
    for number, part in enumerate([*rounds_of(chance, upserts), deletes]):
        so_far += part
        target.apply([told(event, number) for event in part], EVENTS)
        last = {key: versions[-1] for key, versions in histories(set_of(so_far), COLUMNS).items() if versions}
        wanted = ((*key, *(one.values[name] for name in COLUMNS)) for key, one in last.items() if one.ends is None)
        assert target.rows(DATA) == by_text(wanted)


# the rows of a table, whose old and new images a stream tells

IMAGES = f"id int, v int, changed timestamp, {METADATA}"


@dataclass(frozen=True)
class Row:
    """A row's key and value, and the commit that wrote it."""

    key: int
    v: int
    version: int


@dataclass
class Source:
    """A table with row ids, changed at random, no two rows of which have one key."""

    chance: random.Random
    rows: dict[int, Row] = field(default_factory=dict)
    gone: dict[int, Row] = field(default_factory=dict)
    deleted: dict[int, int] = field(default_factory=dict)
    came: dict[int, int] = field(default_factory=dict)
    newest: dict[int, int] = field(default_factory=dict)
    version: int = 0
    ids: int = 0

    def commit(self) -> None:
        self.version += 1
        for row_id in self.chance.sample(sorted(self.rows), len(self.rows) // 3):
            self.chance.choice((self._delete, self._update, self._update, self._move))(row_id)
        for key in self.chance.sample(self._free(), min(3, len(self._free()))):
            self._insert(Row(key, self.chance.choice((1, 2)), self.version))
        for row_id, row in list(self.gone.items()):
            if row.key in self._free() and self.newest[row.key] == row.version and self.deleted[row_id] < self.version:
                self._insert(self.gone.pop(row_id))  # as it was

    def _free(self) -> list[int]:
        return sorted(set(range(24)) - {row.key for row in self.rows.values()})

    def _insert(self, row: Row) -> None:
        self.ids += 1
        self.came[self.ids] = self.version
        self._write(self.ids, row)

    def _write(self, row_id: int, row: Row) -> None:
        self.rows[row_id] = row
        self.newest[row.key] = row.version

    def _delete(self, row_id: int) -> None:
        self.gone[row_id] = self.rows.pop(row_id)
        self.deleted[row_id] = self.version

    def _update(self, row_id: int) -> None:
        self._write(row_id, Row(self.rows[row_id].key, self.chance.choice((1, 2)), self.version))

    def _move(self, row_id: int) -> None:
        """A key that is free; or this row and the next change their keys."""
        other = next((one for one in self.rows if one > row_id), None)
        if other is None or self.chance.random() < 0.5:
            new = [self.chance.choice(self._free() or [self.rows[row_id].key])]
        else:
            new = [self.rows[other].key, self.rows[row_id].key]
        for one, key in zip((row_id, other), new, strict=False):
            self._write(one, Row(key, self.rows[one].v, self.version))


def images(before: dict[int, Row], source: Source) -> list[tuple[Any, ...]]:
    """What a stream tells of the changes since `before`: at most one of each row."""
    found = []
    for row_id in sorted({*before, *source.rows}):
        old, new = before.get(row_id), source.rows.get(row_id)
        if old == new:
            continue
        kinds = ("update_preimage", "update_postimage") if old and new else ("delete", "insert")
        version = max(new.version, source.came[row_id]) if new else source.deleted[row_id]
        for kind, row in zip(kinds, (old, new), strict=True):
            if row is not None:
                written = moment(row.version, 0.5)
                found.append((row.key, row.v, written, kind, version, moment(version), str(row_id)))
    return found


@dataclass
class Past:
    """The versions of each key: its value, from and to."""

    versions: dict[int, list[list[Any]]] = field(default_factory=lambda: defaultdict(list))

    def is_told(self, rows: list[tuple[Any, ...]], own_order: bool) -> None:
        """A key that a new image has is there; from an old image on, until then, it was not."""
        for key in {row[0] for row in rows}:
            new = [row for row in rows if row[0] == key and row[3] in ("insert", "update_postimage")]
            old = [row for row in rows if row[0] == key and row not in new]
            if old and (not new or (own_order and old[0][4] < new[0][4])):
                self._ends(key, old[0][5])
            for row in new:
                self._begins(key, row[1], row[5] if own_order else row[2])

    def _ends(self, key: int, when: datetime) -> None:
        self.versions[key][-1][2] = when

    def _begins(self, key: int, v: int, when: datetime) -> None:
        last = self.versions[key][-1] if self.versions[key] else None
        if last and last[1] == when:  # the same row once more
            last[0], last[2] = v, None
        elif not (last and last[2] is None and last[0] == v):
            if last:
                last[2] = when if last[2] is None else min(last[2], when)
            self.versions[key].append([v, when, None])

    def rows(self) -> list[tuple[Any, ...]]:
        return by_text((key, *version) for key, versions in self.versions.items() for version in versions)


@pytest.mark.parametrize(("own_order", "simply"), [(True, False), (True, True), (False, False)])
def test_history_of_a_table(session: SparkSession, own_order: bool, simply: bool) -> None:
    """Keys that change, swap and come back. Ordered by its commits, or by a column, which says not when a row is gone.
    Several commits come together, or one, in which no key has more than one change."""
    order = {} if own_order else {"sequence_by": "changed"}
    target = Target(session, ScdConfig(("id",), scd_type=2, except_columns=("changed",), **order), simply=simply)
    source, past = Source(random.Random(3)), Past()
    for commits in (3, 3, 3, 3) if not simply else (3, 1, 1, 3, 1, 1):
        before = dict(source.rows)
        for _ in range(commits):
            source.commit()
        rows = images(before, source)
        past.is_told(rows, own_order)
        target.apply(rows, IMAGES)
        assert target.rows("id, v, valid_from, valid_to") == past.rows()
    assert (target.simple >= 3) == (own_order and simply)


NEWER = {
    "several of a key": [(1, 5, None, "insert", 9, moment(9), "a"), (1, 6, None, "insert", 9, moment(9), "b")],
    "of two commits": [(1, 1, None, "delete", 8, moment(8), "1"), (1, 6, None, "insert", 9, moment(9), "b")],
    "before a version begins": [(1, 6, None, "update_postimage", 2, moment(2), "1")],
    "before a version ends": [(3, 6, None, "insert", 5, moment(5), "c")],
    "when a version ends": [(3, 6, None, "insert", 6, moment(6), "c")],
}

TIED = ("several of a key",)


@pytest.mark.parametrize("case", NEWER)
def test_what_is_not_the_usual_case_is_seen(session: SparkSession, case: str) -> None:
    """Though nothing might come of the key: it is told before."""
    target = Target(session, ScdConfig(("id",), scd_type=2, except_columns=("changed",)), simply=True)
    for version, row in ((3, (1, 1)), (4, (3, 1))):
        target.apply([(*row, None, "insert", version, moment(version), str(row[0]))], IMAGES)
    target.apply([(3, 1, None, "delete", 6, moment(6), "3")], IMAGES)
    assert target.simple == 2
    with pytest.raises(PySparkException, match="at one place") if case in TIED else nullcontext():
        target.apply(NEWER[case], IMAGES)
    assert target.simple == 2


def test_untracked_columns_change_the_version_that_is_open(session: SparkSession) -> None:
    config = ScdConfig(("id",), scd_type=2, track_history_columns=("v",))
    simply, slowly = (Target(session, config, simply=simply) for simply in (True, False))
    rounds = [
        [(1, 1, moment(0), "insert", 1, moment(1), "1"), (2, None, None, "insert", 1, moment(1), "2")],
        [(1, 1, moment(5), "update_postimage", 2, moment(2), "1"), (2, 1, None, "update_postimage", 2, moment(2), "2")],
        [(1, None, None, "update_postimage", 3, moment(3), "1"), (9, 1, None, "delete", 3, moment(3), "9")],
        [(1, None, None, "delete", 4, moment(4), "1"), (2, 1, None, "delete", 4, moment(4), "2")],
        [(1, None, None, "insert", 5, moment(5), "3"), (2, 1, None, "delete", 5, moment(5), "2")],
    ]
    for rows in rounds:
        for target in (simply, slowly):
            target.apply(rows, IMAGES)
        assert simply.rows() == slowly.rows()
    assert simply.simple == len(rounds) - 1


@pytest.mark.parametrize("config", [{"except_columns": ("changed",)}, {"sequence_by": "changed"}], ids=str)
def test_current_rows_of_a_table(session: SparkSession, config: dict[str, Any]) -> None:
    target = Target(session, ScdConfig(("id",), **config))
    source = Source(random.Random(4))
    for _ in range(4):
        before = dict(source.rows)
        for _ in range(3):
            source.commit()
        target.apply(images(before, source), IMAGES)
        assert target.rows("id, v") == by_text((row.key, row.v) for row in source.rows.values())


@pytest.mark.parametrize("scd_type", [1, 2])
def test_rows_that_are_written_again_at_their_place(session: SparkSession, scd_type: int) -> None:
    """An update that leaves the ordering column alone, and a row that is deleted and put back otherwise."""
    target = Target(session, ScdConfig(("id",), scd_type=scd_type, except_columns=("changed",), sequence_by="changed"))
    source = Source(random.Random(0), rows={1: Row(1, 1, 5), 2: Row(2, 1, 5)}, came={1: 5, 2: 5}, version=5)
    target.apply(images({}, source), IMAGES)
    before, source.rows = source.rows, {1: Row(1, 2, 5)}
    source.deleted[2] = source.version = 6
    target.apply(images(before, source), IMAGES)
    assert [row[:2] for row in target.rows() if None in row or scd_type == 1] == [(1, 2)]
    before, source.rows = source.rows, {1: Row(1, 2, 5), 3: Row(2, 2, 5)}
    source.came[3] = source.version = 7
    target.apply(images(before, source), IMAGES)
    begin = moment(5, 0.5)
    ends = () if scd_type == 1 else (begin, None)
    names = "id, v" if scd_type == 1 else "id, v, valid_from, valid_to"
    assert target.rows(names) == [(1, 2, *ends), (2, 2, *ends)]


@pytest.mark.parametrize("scd_type", [1, 2])
def test_a_redo_log(session: SparkSession, scd_type: int) -> None:
    """Every change of every commit, several of one key in a run: the commits order them."""
    target = Target(
        session, ScdConfig(("id",), scd_type=scd_type, except_columns=("changed",), sequence_by="_commit_version")
    )
    source, past = Source(random.Random(5)), Past()
    for _ in range(3):
        log = []
        for _ in range(4):
            before = dict(source.rows)
            source.commit()
            told_now = images(before, source)
            past.is_told([(*row[:2], row[2], row[3], row[4], row[4], row[6]) for row in told_now], own_order=True)
            log += told_now
        target.apply(log, IMAGES)
        if scd_type == 1:
            assert target.rows("id, v") == by_text((row.key, row.v) for row in source.rows.values())
        else:
            assert target.rows("id, v, valid_from, valid_to") == past.rows()
