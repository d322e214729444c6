"""apply_changes with an order: each rule by itself, on real tables. Random histories are in test_scd.py."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.changes_applied import changes_applied
from dbt.adapters.streamspark.consume.columns import columns_of
from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from dbt.adapters.streamspark.errors import ConsumptionRefused
from tests.consuming import Model, make_source, path_table
from tests.scd_target import MAPPED, METADATA, Target, by_text, moment, session_of


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    return session_of(spark)


ROWS = f"id int, v string, ts int, op string, {METADATA}"
SNOWFLAKE = "id int, v string, `METADATA$ACTION` string, `METADATA$ISUPDATE` boolean, `METADATA$ROW_ID` string"


def event(id_: int | None, v: str | None, ts: int | None, op: str = "U", version: int = 1) -> tuple[Any, ...]:
    return (id_, v, ts, op, "insert", version, moment(version), f"{id_}-{ts}-{version}")


def test_truncates(session: SparkSession) -> None:
    """All that is older goes, whether its key comes again or not."""
    target = Target(
        session, ScdConfig(("id",), sequence_by="ts", apply_as_truncates="op = 'T'", except_columns=("op",))
    )
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


@pytest.mark.parametrize("dialect", ["delta", "snowflake"])
def test_a_truncate_without_a_place_is_an_error(session: SparkSession, dialect: str) -> None:
    target = Target(session, ScdConfig(("id",), apply_as_truncates="v = 'T'"))
    if dialect == "snowflake":
        with pytest.raises(ConsumptionRefused, match="apply_as_truncates needs sequence_by"):
            target.apply([(1, "T", "INSERT", False, "a")], SNOWFLAKE)
        return
    target.apply([event(1, "a", 1)], ROWS)
    with pytest.raises((PySparkException, Py4JError), match="a row of apply_as_truncates has no _commit_version"):
        target.apply([(9, "T", 1, "U", "insert", None, None, "9")], ROWS)
    assert target.rows("id") == [(1,)]


@pytest.mark.parametrize("soft", [False, True])
def test_a_delete_at_the_time_of_the_newest_version_ends_it(session: SparkSession, soft: bool) -> None:
    """Clocks of two base tables differ; a changed query takes rows away without a commit."""
    target = Target(session, ScdConfig(("id",), scd_type=2, soft_deletes=soft))
    target.apply([event(1, "a", 1), event(2, "b", 1), event(3, "c", 1)], ROWS)
    gone = [changed(event(id_, v, 1), "delete") for id_, v in ((2, "b"), (3, "c"))]
    target.apply([*gone, event(3, "new", 1)], ROWS)
    held = target.rows("id, v, is_current, is_deleted" if soft else "id, v, is_current, false")
    ended = (2, "b", soft, soft)
    assert held == [(1, "a", True, False), ended, (3, "new", True, False)]


def changed(row: tuple[Any, ...], change_type: str) -> tuple[Any, ...]:
    return (*row[:4], change_type, *row[5:])


@pytest.mark.parametrize(
    "config", [{}, {"scd_type": 2}, {"soft_deletes": True}, {"scd_type": 2, "sequence_by": "ts"}], ids=str
)
def test_fields_of_structs_go_by_name(session: SparkSession, config: dict[str, Any]) -> None:
    """Their order may change, and one that the target lacks is left out, as a column is."""
    inner, rows = "array<struct<x:int,y:int>>", f"id int, ts int, s struct<{{}}>, {METADATA}"
    target = Target(session, ScdConfig(("id",), **config))
    target.apply([(1, 1, ("A", "B", [(1, 2)]), *metadata(1))], rows.format(f"a:string,b:string,n:{inner}"))
    later = f"n:{inner.replace('x:int,y:int', 'y:int,x:int')},c:string,b:string,a:string"
    target.apply([(1, 2, ([(4, 3)], "C2", "B2", "A2"), *metadata(2)), (2, 2, None, *metadata(2))], rows.format(later))
    current = target.rows("id, s.a, s.b, to_json(s.n)" + (", is_current" if config.get("scd_type") == 2 else ", true"))
    assert [row[:4] for row in current if row[4]] == [(1, "A2", "B2", '[{"x":3,"y":4}]'), (2, None, None, None)]


def metadata(version: int) -> tuple[Any, ...]:
    return ("insert", version, moment(version), str(version))


@pytest.mark.parametrize("name", ["op", "ID"])
def test_a_version_begins_with_columns_that_are_kept(session: SparkSession, name: str) -> None:
    config = ScdConfig(("id",), scd_type=2, sequence_by="ts", except_columns=("op",), track_history_columns=(name,))
    with pytest.raises(ConsumptionRefused, match=f"track_history_columns has {name}, of which no version can begin"):
        Target(session, config).apply([event(1, "a", 1)], ROWS)


def test_several_events_of_a_key_are_ordered_by_their_commits(session: SparkSession) -> None:
    target = Target(session, ScdConfig(("id",), apply_as_deletes="op = 'D'"))
    target.apply([event(1, "b", 1, version=2), event(1, "a", 1, version=1), event(2, "x", 1, version=1)], ROWS)
    target.apply([event(2, None, 1, "D", version=4), event(2, "y", 1, version=3), event(3, None, 1, "D", 3)], ROWS)
    assert target.rows("id, v") == [(1, "b")]


def test_versions_of_two_tables_are_no_order(session: SparkSession) -> None:
    """A row that has come into one before it left the other is there, whatever the tables count their commits."""
    config = ScdConfig(("id",), scd_type=2, except_columns=("op", "ts"))
    for inserted, deleted in ((9, 3), (3, 9)):
        target = Target(session, config, one_stream=False)
        here = (1, "a", 1, "U", "insert", inserted, moment(1), "x")
        target.apply([here, (1, "a", 1, "U", "delete", deleted, moment(2), "x")], ROWS)
        assert target.rows("id, v, is_current") == [(1, "a", True)]


@pytest.mark.parametrize("scd_type", [1, 2])
def test_columns_that_are_never_updated_come_with_the_first_row(session: SparkSession, scd_type: int) -> None:
    config = {"columns_to_update": ("V",), "except_columns": ("ts",), "scd_type": scd_type}
    target = Target(session, ScdConfig(("id",), sequence_by="ts", apply_as_deletes="op = 'D'", **config))
    target.apply([event(1, "b", 5, "second"), event(1, "a", 3, "first")], ROWS)
    target.apply(
        [event(1, "c", 9, "third"), event(1, "z", 1, "zeroth"), event(2, "x", 1), event(2, None, 2, "D")], ROWS
    )
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


@pytest.mark.parametrize("scd_type", [1, 2])
def test_a_place_that_the_target_cannot_write_is_an_error(session: SparkSession, scd_type: int) -> None:
    """Cast, two places would be one, or change sides."""
    target = Target(session, ScdConfig(("id",), scd_type=scd_type, sequence_by="ts", except_columns=("op",)))
    target.apply([event(1, "a", 1), event(2, "a", 1)], ROWS)
    finer = ROWS.replace("ts int", "ts double")
    target.apply([(1, "b", 3.0, "U", *event(1, "b", 3)[4:])], finer)
    before = target.rows()
    with pytest.raises(PySparkException, match=r'is double, and its table orders by int, without the place {"ts":3.5}'):
        target.apply([(1, "c", 3.5, "U", *event(1, "c", 3)[4:])], finer)
    assert target.rows() == before and target.rows("id, v")[-2:] != [(1, "a"), (2, "a")]


@pytest.mark.parametrize("partial", [False, True])
def test_a_column_that_the_select_lacks_for_a_run_is_remembered(session: SparkSession, partial: bool) -> None:
    """The memory is written anew by each run that touches its key."""
    config = ScdConfig(("id",), scd_type=2, sequence_by="ts", except_columns=("op",), track_history_columns=("v",))
    target = Target(session, replace(config, ignore_null_updates=partial))
    rows, lacking = ROWS.replace("v string", "v string, w int"), ROWS
    target.apply([with_w(1, "a", 10, 7), with_w(1, "a", 30, 9)], rows)
    target.apply([event(1, "a", 40)], lacking)
    assert target.rows("v, w, ts") == [("a", 9, 40)]
    target.apply([with_w(1, "b", 20, 8)], rows)
    expected = [("a", 7, 10), ("a", 9 if partial else None, 40), ("b", 8, 20)]
    assert target.rows("v, w, ts") == expected


def with_w(id_: int, v: str, ts: int, w: int) -> tuple[Any, ...]:
    plain = event(id_, v, ts)
    return (*plain[:2], w, *plain[2:])


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
        statement = (
            sql.merge(target.table, list(columns_of(session.table(target.table).schema))).sql() if target.made else None
        )
        session.sql("create schema if not exists scd")
        session.sql(statement or f"create table {target.table} using delta {MAPPED} as {sql.upserts()}")
        target.made = True

    rows(event(1, "a", 1), event(1, "a", 3))  # one version, of which the first event is remembered
    assert "2026-01-31 12:00:00.123456" in target.rows("__history")[0][0]
    session.sql(
        f"update {target.table} set l = 0, q = '', d = 0, t = null, n = null, b = null, s = null, m = null, f = 0"
    )
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
    merge = sql.merge("{target}", list(columns_of(session.sql(f"select * from {model.target}").schema))).sql()
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
