"""Committing a consumption: one commit, exactly once, and nothing of it left in the session."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.steps import ENVIRONMENT, FaultInjected
from tests.consuming import APPEND, CONFS, FIRST, MERGE, Model, add, confs, make_source, newest, path_table, rows
from tests.spark.consume.interruptions import at_step

# One commit


@pytest.mark.parametrize(
    ("statement", "expected", "affected"),
    [
        (APPEND, [*FIRST, (3, "r3")], {"num_affected_rows": 1}),
        (
            MERGE,
            [(1, "new"), (3, "r3")],
            {"num_affected_rows": 3, "num_updated_rows": 1, "num_deleted_rows": 1, "num_inserted_rows": 1},
        ),
        ("insert overwrite {target} select id, v from {s} where id = 3", [(3, "r3")], {"num_affected_rows": 1}),
        (
            "insert into {target} replace where id = 2 select 2, max(v) from {s} where id = 3",
            [(1, "a"), (2, "r3")],
            None,
        ),
        (
            "with c as (select * from {s} where id = 3) insert into {target} select id, v from c",
            [*FIRST, (3, "r3")],
            None,
        ),
        (
            "update {target} set v = (select max(v) from {s} where id = 3)",
            [(1, "r3"), (2, "r3")],
            {"num_affected_rows": 2},
        ),
        ("create or replace table {target} using delta as select id, v from {s} where id = 3", [(3, "r3")], None),
    ],
    ids=["append", "merge", "overwrite", "replace where", "with", "update", "create"],
)
def test_one_commit_with_rows_and_offset(
    model: Model, statement: str, expected: list[tuple[int, str]], affected: dict[str, int] | None
) -> None:
    source = model.sources["s"]
    add(model, 3)
    if statement == MERGE:
        model.spark.sql(f"update {source} set v = 'new' where id = 1")
        model.spark.sql(f"delete from {source} where id = 2")
    outcome = model.run(statement)
    assert model.rows() == expected
    assert (outcome.version, newest(model.spark, model.target), outcome.tries, outcome.skipped) == (1, 1, 1, False)
    if affected is not None:
        assert outcome.rows_affected == affected
    assert model.plan().is_empty
    assert confs(model.spark) == [None, None, None]


def test_what_the_commit_says(model: Model) -> None:
    add(model, 3)
    outcome = model.run(APPEND)
    commit_1 = TableLog(model.spark, model.target).commit(1)
    assert commit_1.txns == {model.consumer: 2}
    body = json.loads(commit_1.info["userMetadata"])["streamspark"]
    stream = body.pop("streams")["s"]
    assert body == {
        "v": 1,
        "consumer": model.consumer,
        "n": 2,
        "attempt": outcome.consumption.attempt,
        "invocation": "invocation",
        "seen": 0,
    }
    source = TableLog(model.spark, model.sources["s"])
    versions = [stream[key]["tables"][source.table_id]["version"] for key in ("from", "to")]
    assert (stream["name"], versions) == ("s", [1, 2])


def test_two_streams_move_together_and_a_stream_not_read_keeps_its_offset(
    session: SparkSession, tmp_path: Path
) -> None:
    one, two = (make_source(session, path_table(tmp_path, name)) for name in ("one", "two"))
    target = path_table(tmp_path, "target")
    both = Model(session, target, {"one": one, "two": two})
    both.run("create table {target} using delta as select id, v from {one} union all select id + 10, v from {two}")
    assert newest(session, target) == 0
    for source in (one, two):
        session.sql(f"insert into {source} values (3, 'c')")
    only_one = Model(session, target, {"one": one})
    only_one.run(APPEND.replace("{s}", "{one}"))
    assert {key: value.tables[0].version for key, value in both.cursor().frontiers.items()} == {"one": 2, "two": 1}
    plan = both.plan()
    assert [read.is_empty for read in plan.reads] == [True, False] and not plan.is_empty
    both.run("insert into {target} select id, v from {one} union all select id + 10, v from {two}", plan)
    assert rows(session, target) == [(1, "a"), (2, "b"), (3, "c"), (11, "a"), (12, "b"), (13, "c")]


def test_a_merge_that_changes_nothing_still_moves_the_offset(model: Model) -> None:
    add(model, 3)
    nothing = "merge into {target} t using {s} c on t.id = c.id when matched then delete"
    assert model.run(nothing).rows_affected == dict.fromkeys(
        ["num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows"], 0
    )
    assert model.plan().is_empty


# Confs


def test_writes_around_a_consumption_are_not_part_of_it(model: Model) -> None:
    add(model, 3)
    model.spark.sql(f"insert into {model.target} values (98, 'pre-hook')")
    model.run(APPEND)
    model.spark.sql(f"insert into {model.target} values (99, 'post-hook')")
    model.spark.sql(f"optimize {model.target}")
    commits = TableLog(model.spark, model.target).commits(0, 4)
    assert [commit.txns for commit in commits] == [{}, {model.consumer: 2}, {}, {}]
    assert ["userMetadata" in commit.info for commit in commits] == [False, True, False, False]


def test_values_that_were_set_before_come_back(model: Model) -> None:
    mine = ["my app", "7", "mine"]
    for key, value in zip(CONFS, mine, strict=True):
        model.spark.conf.set(key, value)
    add(model, 3)
    model.run(APPEND)
    assert confs(model.spark) == mine
    assert TableLog(model.spark, model.target).commit(1).txns == {model.consumer: 2}


def test_confs_are_seen_by_no_other_session(model: Model) -> None:
    seen: list[list[str | None]] = []
    add(model, 3)
    with at_step("before_dml", lambda: seen.append(confs(model.spark.newSession()))):
        model.run(APPEND)
    assert seen == [[None, None, None]]


def test_confs_are_gone_after_an_error(model: Model) -> None:
    add(model, 3)
    with pytest.raises(Exception, match="no_such_column"):
        model.run("insert into {target} select no_such_column, v from {s}")
    with pytest.raises(Exception, match="in the middle of the write"):
        model.run("insert into {target} select id, raise_error('in the middle of the write') from {s}")
    assert confs(model.spark) == [None, None, None]
    assert model.run(APPEND).version == 1
    assert model.rows() == [*FIRST, (3, "r3")]


@pytest.mark.parametrize("name", ["resolve_cursor", "set_confs", "before_dml", "after_dml", "verify", "done"])
def test_an_error_at_any_step_loses_and_doubles_nothing(
    model: Model, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    add(model, 3)
    plan = model.plan()
    with monkeypatch.context() as patch, pytest.raises(FaultInjected):
        patch.setattr("dbt.adapters.streamspark.steps._reached", Counter())
        patch.setenv(ENVIRONMENT, f"{name}:raise")
        model.run(APPEND, None if name == "resolve_cursor" else plan)
    assert confs(model.spark) == [None, None, None]
    again = model.plan()
    assert again.is_empty == (name in ("after_dml", "verify", "done")), "committed or not, the log knows"
    if not again.is_empty:
        model.run(APPEND, again)
    assert model.rows() == [*FIRST, (3, "r3")]
