"""Committing a consumption: one commit, exactly once, and nothing of it left in the session."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.commit import commit
from dbt.adapters.streamspark.consume.confs import APP_ID, TXN_VERSION, USER_METADATA
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.steps import ENVIRONMENT, FaultInjected, on_step
from dbt.adapters.streamspark.errors import ConsumptionRefused, Fenced, OffsetUnknown, StaleSource
from tests.consuming import APPEND, CREATE, MERGE, Model, make_source, newest, path_table, rows

FIRST = [(1, "a"), (2, "b")]
CONFS = (APP_ID, TXN_VERSION, USER_METADATA)


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    return spark.newSession()


@pytest.fixture
def model(session: SparkSession, tmp_path: Path) -> Model:
    """A target that has consumed versions 0 and 1 of its source, as its version 0."""
    made = Model(session, path_table(tmp_path, "target"), {"s": make_source(session, path_table(tmp_path, "source"))})
    made.run(CREATE)
    return made


def add(model: Model, row_id: int) -> None:
    model.spark.sql(f"insert into {model.sources['s']} values ({row_id}, 'r{row_id}')")


def rival(model: Model) -> Model:
    """The same consumer in another run."""
    return Model(model.spark.newSession(), model.target, model.sources, model.consumer)


def confs(spark: SparkSession) -> list[str | None]:
    return [spark.conf.get(key, None) for key in CONFS]


@contextmanager
def at_step(name: str, action: Callable[[], object]) -> Iterator[None]:
    """Runs `action` once, when the step is reached in this thread."""
    pending, here = [action], threading.get_ident()

    def reached(step: str) -> None:
        if step == name and pending and threading.get_ident() == here:
            pending.pop()()

    stop = on_step(reached)
    try:
        yield
    finally:
        stop()


@contextmanager
def blocked_write(model: Model, tmp_path: Path, during: Callable[[], object]) -> Iterator[None]:
    """While the model's DML runs, that is after Delta opened its transaction, `during` happens.

    The DML must call the function `wait(id)`, which goes on when `during` is done."""
    gate, entered = tmp_path / "gate", tmp_path / "entered"

    def wait(value: int) -> int:
        entered.touch()
        deadline = time.monotonic() + 60
        while not gate.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        return value

    def other() -> None:
        while not entered.exists():
            time.sleep(0.02)
        during()
        gate.touch()

    model.spark.udf.register("wait", wait, "int")
    thread = threading.Thread(target=other)
    thread.start()
    try:
        yield
    finally:
        thread.join(timeout=60)


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
        patch.setattr("dbt.adapters.streamspark.consume.steps._reached", Counter())
        patch.setenv(ENVIRONMENT, f"{name}:raise")
        model.run(APPEND, None if name == "resolve_cursor" else plan)
    assert confs(model.spark) == [None, None, None]
    again = model.plan()
    assert again.is_empty == (name in ("after_dml", "verify", "done")), "committed or not, the log knows"
    if not again.is_empty:
        model.run(APPEND, again)
    assert model.rows() == [*FIRST, (3, "r3")]


# Fencing


def test_two_plans_from_one_cursor_the_second_plans_again(model: Model) -> None:
    """Rows 3 in both plans, row 4 only in the second: the second must append 4 alone."""
    add(model, 3)
    first = model.plan()
    add(model, 4)
    slow, second = rival(model), None
    second = slow.plan()
    assert first.n == second.n == 2
    model.run(APPEND, first)
    outcome = slow.run(APPEND, second)
    assert model.rows() == [*FIRST, (3, "r3"), (4, "r4")]
    assert (outcome.tries, outcome.consumption.n, outcome.version) == (2, 3, 2)


def test_the_source_version_as_transaction_version_would_double(model: Model) -> None:
    """Why the number is a sequence: Delta skips versions up to the stored one, and a second plan of the same
    start has a higher source version. Shown on Delta itself, so the test above shows the protocol."""
    add(model, 3)
    first = model.plan()
    add(model, 4)
    second = model.plan()
    for plan in (first, second):
        model.spark.conf.set(APP_ID, model.consumer)
        model.spark.conf.set(TXN_VERSION, str(plan.reads[0].end.tables[0].version))
        model.spark.sql(APPEND.format(target=model.target, s=plan.reads[0].sql))
        for key in (APP_ID, TXN_VERSION):
            model.spark.conf.unset(key)
    assert model.rows() == [*FIRST, (3, "r3"), (3, "r3"), (4, "r4")]


def test_a_fenced_merge_is_noticed_too(model: Model) -> None:
    add(model, 3)
    first, slow = model.plan(), rival(model)
    second = slow.plan()
    model.run(MERGE, first)
    model.spark.sql(f"delete from {model.sources['s']} where id = 3")
    outcome = slow.run(MERGE, second)
    assert (model.rows(), outcome.tries) == (FIRST, 2)


def test_a_fenced_run_with_nothing_left_skips(model: Model) -> None:
    add(model, 3)
    first, slow = model.plan(), rival(model)
    second = slow.plan()
    model.run(APPEND, first)
    outcome = slow.run(APPEND, second)
    assert (outcome.skipped, outcome.version, outcome.rows_affected) == (True, None, None)
    assert (model.rows(), newest(model.spark, model.target)) == ([*FIRST, (3, "r3")], 1)


def test_a_rival_commit_during_the_write(model: Model, tmp_path: Path) -> None:
    """Delta's ConcurrentTransactionException: both ran, the later one to commit plans again."""
    add(model, 3)
    other = rival(model)
    slow = APPEND.replace("select id,", "select wait(id),")
    with blocked_write(model, tmp_path, lambda: other.run(APPEND)):
        outcome = model.run(slow)
    assert (outcome.skipped, outcome.tries) == (True, 1)
    assert model.rows() == [*FIRST, (3, "r3")]


def test_a_rival_commit_and_more_rows_during_the_write(model: Model, tmp_path: Path) -> None:
    add(model, 3)
    other = rival(model)

    def meanwhile() -> None:
        other.run(APPEND)
        add(other, 4)

    with blocked_write(model, tmp_path, meanwhile):
        outcome = model.run(APPEND.replace("select id,", "select wait(id),"))
    assert (outcome.skipped, outcome.tries, outcome.consumption.n) == (False, 2, 3)
    assert model.rows() == [*FIRST, (3, "r3"), (4, "r4")]


def test_a_conflict_with_another_writer_plans_again_with_the_same_number(model: Model, tmp_path: Path) -> None:
    """A MERGE loses against a hand-made UPDATE of the rows that it reads; nobody else consumed."""
    model.spark.sql(f"update {model.sources['s']} set v = 'new' where id = 1")
    other = rival(model)
    update = f"update {model.target} set v = 'by hand' where id = 2"
    with blocked_write(model, tmp_path, lambda: other.spark.sql(update)):
        outcome = model.run(MERGE.replace("select * from", "select wait(id) as id, v, _change_type from"))
    assert (outcome.tries, outcome.consumption.n) == (2, 2)
    assert model.rows() == [(1, "new"), (2, "by hand")]


def test_tries_are_bounded(model: Model) -> None:
    """Another run is first every time."""
    other = rival(model)
    add(model, 3)
    original, ids = model.plan, iter(range(4, 20))

    def beaten() -> Consumption:
        plan = original()
        other.run(APPEND)
        add(other, next(ids))
        return plan

    model.plan = beaten  # type: ignore[method-assign]
    with pytest.raises(Fenced, match=f"{model.consumer} could not commit into .* first 2 times"):
        model.run(APPEND, tries=2)
    model.plan = original  # type: ignore[method-assign]
    model.run(APPEND)
    assert model.rows() == rows(model.spark, model.sources["s"])


def test_two_first_runs(session: SparkSession, tmp_path: Path) -> None:
    """Only one may create the table; the other must not replace it with the rest of the changes."""
    source = make_source(session, path_table(tmp_path, "source"))
    model = Model(session, path_table(tmp_path, "target"), {"s": source})
    first, slow = model.plan(), rival(model)
    second = slow.plan()
    model.run(CREATE, first)
    add(model, 3)
    with pytest.raises(Fenced, match="another run made table"):
        slow.run(CREATE, second)
    assert model.rows() == FIRST
    model.run(APPEND)
    assert model.rows() == [*FIRST, (3, "r3")]


def test_two_first_runs_with_a_plain_create(session: SparkSession, tmp_path: Path) -> None:
    source = make_source(session, path_table(tmp_path, "source"))
    model = Model(session, path_table(tmp_path, "target"), {"s": source})
    first, slow = model.plan(), rival(model)
    second = slow.plan()
    create = CREATE.replace(" or replace", "")
    model.run(create, first)
    assert slow.run(create, second).skipped
    assert model.rows() == FIRST


def test_two_full_refreshes(model: Model) -> None:
    """The second starts from the same beginning, so it may replace the first's table with the same rows."""
    refresh = replace(model, from_cursor=False, planned=[])
    slow = replace(rival(model), from_cursor=False)
    first, second = refresh.plan(), slow.plan()
    refresh.run(CREATE, first)
    add(model, 3)
    assert slow.run(CREATE, second).consumption.n == 3
    assert model.rows() == [*FIRST, (3, "r3")]
    assert model.plan().is_empty


def test_a_statement_without_the_interval_cannot_be_planned_again(model: Model) -> None:
    add(model, 3)
    first, slow = model.plan(), rival(model)
    second = slow.plan()
    model.run(APPEND, first)
    add(model, 4)
    with pytest.raises(Fenced, match="cannot be planned again"):
        commit(slow.spark, second, [f"insert into {model.target} values (3, 'r3')"], slow.plan)
    assert model.rows() == [*FIRST, (3, "r3")]


def test_statements_before_the_write_run_again_too(model: Model) -> None:
    add(model, 3)
    first, slow = model.plan(), rival(model)
    second = slow.plan()
    model.run(APPEND, first)
    add(model, 4)
    view = f"create or replace temporary view prepared as select id, v from {second.reads[0].sql}"
    outcome = commit(slow.spark, second, [view, f"insert into {model.target} select * from prepared"], slow.plan)
    assert outcome.tries == 2
    assert model.rows() == [*FIRST, (3, "r3"), (4, "r4")]


# RESTORE while a consumption is under way


def test_a_restore_between_plan_and_commit_plans_again(model: Model) -> None:
    add(model, 3)
    model.run(APPEND)
    add(model, 4)
    plan = model.plan()
    model.spark.sql(f"restore table {model.target} to version as of 0")
    outcome = model.run(APPEND, plan)
    assert outcome.tries == 2
    assert model.rows() == [*FIRST, (3, "r3"), (4, "r4")]


def test_a_restore_at_the_last_moment_is_an_error_that_stays(model: Model) -> None:
    """Delta has no check for it: the commit lands, with row 3 missing. It must not pass for right."""
    add(model, 3)
    model.run(APPEND)
    add(model, 4)
    restore = f"restore table {model.target} to version as of 0"
    with (
        at_step("before_dml", lambda: model.spark.newSession().sql(restore)),
        pytest.raises(OffsetUnknown, match=r"RESTORE \(version 2\) came between the planning and the commit"),
    ):
        model.run(APPEND)
    with pytest.raises(OffsetUnknown, match="rows are missing"):
        model.plan()
    model.spark.sql(f"restore table {model.target} to version as of 2")
    model.run(APPEND)
    assert model.rows() == [*FIRST, (3, "r3"), (4, "r4")]


# Refusals


@pytest.mark.parametrize(
    ("statements", "why"),
    [
        ([], "no statement"),
        (["delete from {target} where id in (select id from {s})"], "Delta commits nothing for a DELETE"),
        (["with c as (select 1) delete from {target} where id = 1"], "Delta commits nothing for a DELETE|PARSE"),
        (["select * from {s}"], "must be one INSERT, MERGE, UPDATE or CREATE TABLE AS"),
        (["optimize {target}"], "must be one INSERT"),
        (["truncate table {target}"], "must be one INSERT"),
        (["create or replace table {target} (id int) using delta"], "must be one INSERT"),
        (["from {s} insert into {target} select id, v insert into {target} select id, v"], "must be one INSERT"),
        (["delete from {target} where id = 1", "insert into {target} select id, v from {s}"], "writes more than once"),
        (["insert into {target} select id, v from {s}"] * 2, "writes more than once"),
        (
            ["create or replace table {target} using delta tblproperties ('delta.setTransactionRetentionDuration' = "
             "'interval 1 day') as select id, v from {s}"],
            "would get delta.setTransactionRetentionDuration",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_one_atomic_commit_is_refused(model: Model, statements: list[str], why: str) -> None:
    add(model, 3)
    plan = model.plan()
    texts = [text.format(target=model.target, s=plan.reads[0].sql) for text in statements]
    with pytest.raises(Exception, match=why) as caught:
        commit(model.spark, plan, texts, model.plan)
    assert isinstance(caught.value, ConsumptionRefused) or "PARSE" in str(caught.value)
    assert (model.rows(), newest(model.spark, model.target)) == (FIRST, 0)


def test_a_target_that_forgets_transactions_is_refused(model: Model) -> None:
    add(model, 3)
    key = "delta.setTransactionRetentionDuration"
    model.spark.sql(f"alter table {model.target} set tblproperties ('{key}' = 'interval 30 days')")
    with pytest.raises(ConsumptionRefused, match=f"{key} = interval 30 days.* UNSET TBLPROPERTIES"):
        model.run(APPEND)
    assert model.rows() == FIRST
    model.spark.sql(f"alter table {model.target} unset tblproperties ('{key}')")
    model.run(APPEND)
    assert model.rows() == [*FIRST, (3, "r3")]


def test_a_default_that_forgets_transactions_is_refused(session: SparkSession, tmp_path: Path) -> None:
    model = Model(session, path_table(tmp_path, "t"), {"s": make_source(session, path_table(tmp_path, "source"))})
    session.conf.set("spark.databricks.delta.properties.defaults.setTransactionRetentionDuration", "interval 1 day")
    with pytest.raises(ConsumptionRefused, match=r"would get delta\.setTransactionRetentionDuration"):
        model.run(CREATE)


def test_a_write_into_another_table_is_not_taken_for_a_consumption(model: Model, tmp_path: Path) -> None:
    add(model, 3)
    elsewhere = path_table(tmp_path, "elsewhere")
    model.spark.sql(f"create table {elsewhere} (id int, v string) using delta")
    with pytest.raises(ConsumptionRefused, match="committed nothing into"):
        model.run(f"insert into {elsewhere} select id, v from {{s}}")
    assert not model.plan().is_empty


# Sources


def test_a_missing_source_file_names_table_and_since_when(model: Model) -> None:
    add(model, 3)
    plan = model.plan()
    for file in Path(model.sources["s"][len("delta.`") : -1]).glob("*.parquet"):
        file.unlink()
    with pytest.raises(StaleSource) as caught:
        model.run(APPEND, plan)
    message = str(caught.value)
    assert f"table {model.sources['s']}: a file that the changes since version 1 (2" in message
    assert "stream s is stale" in message and "--full-refresh" in message and "VACUUM" in message
    assert confs(model.spark) == [None, None, None]


def test_a_missing_target_file_is_not_the_sources_fault(model: Model) -> None:
    model.spark.sql(f"update {model.sources['s']} set v = 'new' where id = 1")
    plan = model.plan()
    for file in Path(model.target[len("delta.`") : -1]).glob("*.parquet"):
        file.unlink()
    with pytest.raises(Exception, match="FILE_NOT_EXIST") as caught:
        model.run(MERGE, plan)
    assert not isinstance(caught.value, StaleSource)
