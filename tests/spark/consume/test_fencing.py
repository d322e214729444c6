"""Another run was first, or a RESTORE: who comes second plans again, and neither loses nor doubles a row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.commit import commit
from dbt.adapters.streamspark.consume.confs import APP_ID, TXN_VERSION
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.errors import Fenced, OffsetUnknown
from tests.consuming import (
    APPEND,
    CREATE,
    FIRST,
    MERGE,
    Model,
    add,
    clean_log,
    make_source,
    newest,
    path_table,
    rival,
    rows,
)
from tests.spark.consume.interruptions import at_step, blocked_write

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


def test_a_restore_at_the_last_moment_of_a_run_that_dies_is_not_forgotten_with_the_log(model: Model) -> None:
    """Found by tests/model: nobody verified, and the RESTORE's commit is cleaned away."""

    def die() -> None:
        raise RuntimeError("dies")

    restore = f"restore table {model.target} to version as of 0"
    add(model, 3)
    model.run(APPEND)
    add(model, 4)
    other = model.spark.newSession()
    with at_step("before_dml", lambda: other.sql(restore)), at_step("verify", die), pytest.raises(RuntimeError):
        model.run(APPEND)
    clean_log(model.spark, model.target, before=3)
    with pytest.raises(OffsetUnknown, match="cleaned away between the planning"):
        model.cursor()
