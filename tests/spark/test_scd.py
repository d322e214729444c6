"""apply_changes with an order, on real tables, against an independent reference in plain Python (tests/scd_reference.py).

A case is a random history of many keys, told in rounds whose events come in any order, some of them twice. After each round
the table must be what the reference makes of all events so far, and in the end what a table made anew would be.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.changes_applied import changes_applied
from dbt.adapters.streamspark.consume.columns import columns_of
from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from tests.consuming import Model, make_source, path_table
from tests.scd_reference import Event, Version, histories

SEEDS = range(int(os.environ.get("SCD_SEEDS", "1")))  # more are for a search
ROUNDS = 3
COLUMNS = ("v", "a `b`", "select")
KEYS = [(number, name) for number in (None, *range(14)) for name in (None, "x")]
MAPPED = "tblproperties ('delta.columnMapping.mode' = 'name')"
PLAIN = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}
METADATA = "_change_type string, _commit_version bigint, _commit_timestamp timestamp, _row_id string"


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    """Little data and large plans: to generate code for them would take most of the time."""
    made = spark.newSession()
    for key, value in PLAIN.items():
        made.conf.set(key, value)
    return made


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
        wanted = (
            (*key, *(one.values[name] for name in COLUMNS)) for key, one in last.items() if one.ends is None
        )
        assert target.rows(DATA) == by_text(wanted)


# the rows of a table, whose old and new images a stream tells

IMAGES = f"id int, v int, changed timestamp, {METADATA}"
BEGIN = datetime(2026, 1, 1)


def moment(version: int, lag: float = 0) -> datetime:
    return BEGIN + timedelta(seconds=version - lag)


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


@pytest.mark.parametrize("own_order", [True, False])
def test_history_of_a_table(session: SparkSession, own_order: bool) -> None:
    """Keys that change, swap and come back. Ordered by its commits, or by a column, which says not when a row is gone."""
    order = {} if own_order else {"sequence_by": "changed"}
    target = Target(session, ScdConfig(("id",), scd_type=2, except_columns=("changed",), **order))
    source, past = Source(random.Random(3)), Past()
    for _ in range(4):
        before = dict(source.rows)
        for _ in range(3):
            source.commit()
        rows = images(before, source)
        past.is_told(rows, own_order)
        target.apply(rows, IMAGES)
        assert target.rows("id, v, valid_from, valid_to") == past.rows()


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
    target = Target(session, ScdConfig(("id",), scd_type=scd_type, except_columns=("changed",), sequence_by="_commit_version"))
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


# single rules

ROWS = f"id int, v string, ts int, op string, {METADATA}"


def event(id_: int | None, v: str | None, ts: int | None, op: str = "U", version: int = 1) -> tuple[Any, ...]:
    return (id_, v, ts, op, "insert", version, moment(version), f"{id_}-{ts}-{version}")


def test_truncates(session: SparkSession) -> None:
    """All that is older goes, whether its key comes again or not."""
    target = Target(session, ScdConfig(("id",), sequence_by="ts", apply_as_truncates="op = 'T'", except_columns=("op",)))
    target.apply([event(1, "a", 1), event(2, "b", 2), event(3, "c", 9)], ROWS)
    target.apply([event(None, None, 5, "T"), event(2, "late", 4), event(4, "d", 5), event(4, "late", 3)], ROWS)
    assert target.rows("id, v") == [(3, "c"), (4, "d")]
    target.apply([event(5, "e", 20), event(None, None, 30, "T"), event(None, None, 25, "T")], ROWS)
    assert target.rows() == []


def test_truncates_by_commit(session: SparkSession) -> None:
    target = Target(session, ScdConfig(("id",), apply_as_truncates="op = 'T'"))
    target.apply([event(1, "a", 1, version=1), event(2, "b", 1, version=3), event(None, None, 1, "T", version=2)], ROWS)
    assert target.rows("id, v") == [(2, "b")]
    target.apply([event(None, None, 1, "T", version=5), event(7, "g", 1, version=6), event(8, "h", 1, version=4)], ROWS)
    assert target.rows("id, v") == [(7, "g")]


def test_several_events_of_a_key_are_ordered_by_their_commits(session: SparkSession) -> None:
    target = Target(session, ScdConfig(("id",), apply_as_deletes="op = 'D'"))
    target.apply([event(1, "b", 1, version=2), event(1, "a", 1, version=1), event(2, "x", 1, version=1)], ROWS)
    target.apply([event(2, None, 1, "D", version=4), event(2, "y", 1, version=3), event(3, None, 1, "D", 3)], ROWS)
    assert target.rows("id, v") == [(1, "b")]


@pytest.mark.parametrize("scd_type", [1, 2])
def test_columns_that_are_never_updated_come_with_the_first_row(session: SparkSession, scd_type: int) -> None:
    config = {"columns_to_update": ("V",), "except_columns": ("ts",), "scd_type": scd_type}
    target = Target(session, ScdConfig(("id",), sequence_by="ts", apply_as_deletes="op = 'D'", **config))
    target.apply([event(1, "b", 5, "second"), event(1, "a", 3, "first")], ROWS)
    target.apply([event(1, "c", 9, "third"), event(1, "z", 1, "zeroth"), event(2, "x", 1), event(2, None, 2, "D")], ROWS)
    target.apply([event(2, "y", 3, "again")], ROWS)
    now = target.rows("id, v, op" if scd_type == 1 else "id, v, op, is_current")
    assert [row[:3] for row in now if row[-1] is not False] == [(1, "c", "zeroth"), (2, "y", "again")]


@pytest.mark.parametrize("scd_type", [1, 2])
def test_two_truths_at_one_place_are_an_error(session: SparkSession, scd_type: int) -> None:
    """In one change set, and one of them in the target; what comes twice as it was is none."""
    target = Target(session, ScdConfig(("id",), scd_type=scd_type, sequence_by="ts", apply_as_deletes="op = 'D'"))
    target.apply([event(1, "a", 1), event(1, "a", 1, version=2)], ROWS)
    said = r"model.t.m: two different changes of one unique_key \(id\) at one place of its order \(ts\): .*\"id\":1.*sequence_by"
    before = target.rows()
    for wrong in ([event(1, "b", 2), event(1, "c", 2)], [event(1, "b", 1)], [event(1, None, 1, "D")]):
        with pytest.raises(PySparkException, match=said):
            target.apply(wrong, ROWS)
    target.apply([event(1, "a", 1, version=3)], ROWS)
    assert target.rows() == before


def test_a_row_without_a_place_is_an_error(session: SparkSession) -> None:
    target = Target(session, ScdConfig(("id",), scd_type=2, sequence_by="ts"))
    with pytest.raises(PySparkException, match=r"model.t.m: sequence_by \(ts\) is NULL.*\"id\":7"):
        target.apply([event(7, "a", None)], ROWS)


def test_what_stays_as_it_is_is_not_written(session: SparkSession) -> None:
    target = Target(session, ScdConfig(("id",), scd_type=2, sequence_by="ts", apply_as_deletes="op = 'D'"))
    target.apply([event(key, "a", 1) for key in range(9)], ROWS)
    target.apply([event(1, "b", 5), event(1, "c", 3), event(2, "a", 1)], ROWS)
    metrics = session.sql(f"describe history {target.table} limit 1").head()["operationMetrics"]
    counts = [metrics[f"numTargetRows{kind}"] for kind in ("Updated", "Inserted", "Deleted")]
    assert counts == ["1", "2", "0"]


def test_values_of_every_type_are_remembered(session: SparkSession) -> None:
    """What a row's columns do not tell is kept as JSON: nothing may be lost on the way there and back."""
    target = Target(
        session, ScdConfig(("id",), scd_type=2, sequence_by="ts", track_history_columns=("v",), except_columns=("op",))
    )
    values = {
        "d": "cast('1234567890123456789012345678.0123456789' as decimal(38,10))", "f": "double('NaN')", "g": "float(0.1)",
        "t": "timestamp '2026-01-31 12:00:00.123456'", "n": "timestamp_ntz '1850-01-31 12:00:00.000001'",
        "b": "x'00ff'", "y": "date '1500-01-01'", "m": "map('a', 1, 'b', null)", "s": "named_struct('x y', array(1, null))",
        "l": "9223372036854775807L", "q": "'a\\\\n\"ü'", "z": "cast(null as boolean)",
    }  # fmt: skip
    columns = ", ".join(f"{sql} as `{name}`" for name, sql in values.items())
    odd = f"select id, 'a' as v, ts, op, {columns}, _change_type, _commit_version, _commit_timestamp, _row_id from {{}}"

    def rows(*events: tuple[Any, ...]) -> None:
        session.createDataFrame(list(events), ROWS).createOrReplaceTempView("plain")
        frame = session.sql(odd.format("plain"))
        frame.createOrReplaceTempView(target.view)
        sql = changes_applied("model.t.m", target.view, columns_of(frame.schema), target.config)
        statement = sql.merge(target.table, list(columns_of(session.table(target.table).schema))) if target.made else None
        session.sql("create schema if not exists scd")
        session.sql(statement or f"create table {target.table} using delta {MAPPED} as {sql.upserts()}")
        target.made = True

    rows(event(1, "a", 1), event(1, "a", 3))  # one version, of which the first event is remembered
    assert "2026-01-31 12:00:00.123456" in target.rows("__history")[0][0]
    session.sql(f"update {target.table} set l = 0, q = '', d = 0, t = null, n = null, b = null, s = null, m = null, f = 0")
    rows(event(1, "a", 2))
    same = " and ".join(f"`{name}` <=> {sql}" for name, sql in values.items() if name != "m")
    assert target.rows(f"ts, to_json(m), {same}") == [(3, '{"a":1,"b":null}', True)]


def test_another_run_that_was_first(session: SparkSession, tmp_path: Path) -> None:
    """The statement is planned again from the new offset, and reads the target's history again."""
    source = make_source(session, path_table(tmp_path, "source"), "values (1, 'a'), (2, 'b')")
    model = Model(session, path_table(tmp_path, "target"), {"s": source})
    plan = model.plan()
    columns = columns_of(session.table(plan.reads[0].sql).schema)
    sql = changes_applied("model.t.m", "{s}", columns, ScdConfig(("id",), scd_type=2))
    model.run("create or replace table {target} using delta as " + sql.upserts(), plan)
    merge = sql.merge("{target}", list(columns_of(session.sql(f"select * from {model.target}").schema)))
    session.sql(f"update {source} set v = 'A' where id = 1")
    slow = model.plan()
    session.sql(f"update {source} set v = 'B' where id = 2")
    model.run(merge)
    session.sql(f"delete from {source} where id = 1")
    outcome = model.run(merge, slow)
    assert (outcome.tries, outcome.consumption.n) == (2, 3)
    found = session.sql(f"select id, v, is_current, valid_to is null from {model.target}").collect()
    assert by_text(tuple(row) for row in found) == [
        (1, "A", False, False), (1, "a", False, False), (2, "B", True, True), (2, "b", False, False),
    ]  # fmt: skip
