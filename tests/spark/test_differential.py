"""Differential targets under random statements: after each round a target is what its query gives, by whatever way it
got there, and the commit that another run overtakes is planned again with rows and keys of its own.

STREAMSPARK_QUERY_SEED sets what the tables, statements and queries are made of.
"""

from __future__ import annotations

import importlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace
from uuid import uuid4

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume import assumed, costs, guess, planner
from dbt.adapters.streamspark.consume.columns import columns_of
from dbt.adapters.streamspark.consume.commit import Outcome, commit
from dbt.adapters.streamspark.consume.cursor import resolve_cursor
from dbt.adapters.streamspark.consume.differential import DifferentialConfig, DifferentialModel, DifferentialPlan
from dbt.adapters.streamspark.consume.keyed_changes import ROW_ID
from dbt.adapters.streamspark.consume.planner import Consumer, Plan, Planner
from dbt.adapters.streamspark.steps import on_step
from tests.spark.queries.grammar import Grammar
from tests.spark.queries.history import History, session_with
from tests.spark.queries.oracle import bag
from tests.spark.queries.programs import Program, Table

SEED = os.environ.get("STREAMSPARK_QUERY_SEED", "1")
ROUNDS, QUERIES = 3, 10
refresh = importlib.import_module("dbt.adapters.streamspark.consume.refresh")
TABLES = [
    Table("t0", {"id": "int", "k": "int", "d": "decimal(10,2)", "s": "string"}),
    Table("t1", {"id": "int", "k": "int", "b": "boolean"}),
]
VECTORS = "'delta.enableDeletionVectors' = 'true'"
QUERY = "select id, s from t0"
CHANGING = [  # what most rounds change: random queries often give nothing, or new rows only
    QUERY,
    "select t0.id, t0.s, t1.b from t0 left join t1 on t0.k = t1.k",
    "select k, count(*) as n, max(s) as most from t0 group by k",
]
ADDITIVE = "select t0.k, count(*) as n, sum(d) as total, avg(d) as mean from t0 join t1 on t0.k <=> t1.k group by t0.k"


@dataclass
class Target:
    """One model, run as dbt would run it."""

    spark: SparkSession
    name: str
    query: str
    config: DifferentialConfig
    reason: str = ""

    @property
    def consumer(self) -> str:
        return f"streamspark/{self.name}"

    def run(self) -> Outcome | None:
        """None where there is nothing to do."""
        return self.plan()()

    def plan(self) -> Callable[[], Outcome | None]:
        """What commits what is planned now."""
        planner, is_table = Planner(), self.spark.catalog.tableExists(self.name)
        consumer = Consumer(self.consumer, self.name, uuid4().hex, is_table=is_table, merges=True)
        plan = DifferentialModel(self.spark, planner, consumer, self.query, self.config).plan()
        self.reason = plan.reason
        planned = planner.plan(consumer.name, consumer.invocation)
        assert planned is not None
        if not plan.anew and planned.consumption.is_empty:
            return lambda: None
        statements = self._statements(plan, planned)
        return lambda: commit(
            self.spark,
            planned.consumption,
            statements,
            lambda: planner.plan_again(self.spark, planned).consumption,
        )

    def _statements(self, plan: DifferentialPlan, planned: Plan) -> list[str]:
        if plan.anew:
            return [f"create or replace table {self.name} using delta tblproperties ({VECTORS}) as {plan.sql}"]
        columns, its = (columns_of(frame.schema) for frame in (self.spark.sql(plan.sql), self.spark.table(self.name)))
        merge = plan.write(planned, "planned_rows", columns, self.name, its)
        return [f"create or replace temporary view planned_rows as {plan.sql}", merge]

    def check(self, history: History, point: int) -> None:
        held, names = self.spark.table(self.name), history.pasts[point].sql(self.query).columns
        assert bag(held.select(*names).collect()) == bag(history.at(self.query, point))
        if ROW_ID in held.columns:
            assert held.select(ROW_ID).distinct().count() == held.count()


@pytest.fixture
def program(spark: SparkSession) -> Iterator[Program]:
    made = Program(History(spark, "differential"), Random(f"{SEED}/differential"), TABLES)
    made.create()
    made.history.mark()
    yield made
    made.history.drop()


def queries(program: Program) -> Iterator[str]:
    """Random ones that Spark takes."""
    for number in range(1000):
        rng = Random(f"{SEED}/differential/{number}")
        query = Grammar(rng, program.tables).query(rng.choice((1, 2, 2))).sql
        try:
            program.history.at(query, 0)
            yield query
        except PySparkException:
            continue


def test_a_target_is_its_query_after_each_round(program: Program) -> None:
    history = program.history
    chosen = [*CHANGING, *(query for query, _ in zip(queries(program), range(QUERIES), strict=False))]
    by_changes = DifferentialConfig(refresh="incremental")
    targets = [Target(history.session, f"differential.d{n}", query, by_changes) for n, query in enumerate(chosen)]
    targets.append(Target(history.session, "differential.added", ADDITIVE, DifferentialConfig(("k",), "incremental")))
    steps: Counter[str] = Counter()
    stop = on_step(lambda name: steps.update([name]))
    try:
        _follow(program, targets)
    finally:
        stop()
    assert steps["merge_found"] > ROUNDS


def _follow(program: Program, targets: list[Target]) -> None:
    """Each round held against the query."""
    history = program.history
    for point in range(ROUNDS + 1):
        for target in targets:
            try:
                target.run()
                target.check(history, point)
            except PySparkException as error:  # raised by the query itself
                raise AssertionError(f"round {point}: {target.query}\n{program.statements}") from error
        program.round()


def test_two_rows_of_one_key_are_an_error_when_a_target_is_made(program: Program) -> None:
    """Keys that are NULL are the same key."""
    history = program.history
    target = Target(history.session, "differential.doubled", QUERY, DifferentialConfig(("id",)))
    for key, said in (("1", r'\{"id":1\}'), ("null", r"\{\}")):
        history.run("delete from t0", f"insert into t0 values (2, 0, 0, 'a'), ({key}, 0, 0, 'a'), ({key}, 0, 0, 'b')")
        message = rf"differential.doubled: 2 new rows for one unique_key \(id\): {said}"
        with pytest.raises((PySparkException, Py4JError), match=message):  # a task that was writing says it
            target.run()
        assert not history.session.catalog.tableExists(target.name)
    history.run("delete from t0 where s = 'b'")
    target.run()
    target.check(history, history.mark())


def test_rows_are_made_anew_in_the_table_that_is_there(program: Program) -> None:
    """Unless the model is another one, and with the same error for two rows of one key."""
    history, target = program.history, anew_each_run(program, "differential.in_place")
    made = "CREATE OR REPLACE TABLE AS SELECT"
    for query, operation in ((QUERY, made), (QUERY, "WRITE"), (f"{QUERY} where id > 5", made)):
        target.query = query
        target.run()
        target.check(history, history.mark())
        assert operations(target)[-1] == operation
        history.run("insert into t0 select max(id) + 1, 1, 0, 'b' from t0")
    target.query, target.config = ADDITIVE, DifferentialConfig(("k",), "full")
    for operation in (made, "WRITE"):
        target.run()
        target.check(history, history.mark())
        assert operations(target)[-1] == operation
        history.run("insert into t0 values (7, 7, 7, 'c')")


@pytest.mark.parametrize("key", [(), ("id",)])
def test_a_commit_of_long_ago_is_not_read_where_rows_are_made_anew(program: Program, key: tuple[str, ...]) -> None:
    """A table may have thousands of them, and a target's rows do not tell when they came."""
    history = program.history
    log = TableLog(history.session, "t0")
    log.java.checkpoint()
    (Path(log.path.removeprefix("file:")) / "_delta_log" / f"{0:020d}.json").write_text("damaged")
    target = Target(history.session, f"differential.anew{len(key)}", QUERY, DifferentialConfig(key, "full"))
    for _ in range(2):
        target.run()
        target.check(history, history.mark())
        history.run("insert into t0 select max(id) + 1, 1, 0, 'b' from t0")


def test_two_rows_of_one_key_are_an_error_where_rows_are_made_anew(program: Program) -> None:
    history, target = program.history, anew_each_run(program, "differential.redoubled")
    target.run()
    history.run("insert into t0 values (7, 0, 0, 'b')")
    with pytest.raises((PySparkException, Py4JError), match=r"2 new rows for one unique_key \(id\): \{\"id\":7\}"):
        target.run()
    assert len(operations(target)) == 1
    history.run("delete from t0 where s = 'b'", "insert into t0 values (700, 0, 0, 'b')")
    target.run()
    target.check(history, history.mark())


def test_a_writer_that_comes_while_rows_are_made_anew_has_the_table_made_again(program: Program) -> None:
    history, target = program.history, anew_each_run(program, "differential.disturbed")
    target.run()
    history.run("insert into t0 values (700, 0, 0, 'b')")
    other, insert = history.session.newSession(), f"insert into {target.name} values (800, 'by somebody else')"
    stop = on_step(lambda name: other.sql(insert).collect() if name == "rows_written" else None)
    try:
        outcome = target.run()
    finally:
        stop()
    assert outcome is not None and outcome.tries == 2
    assert operations(target)[1:] == ["WRITE", "CREATE OR REPLACE TABLE AS SELECT"]
    target.check(history, history.mark())


def anew_each_run(program: Program, name: str) -> Target:
    """A target that has not run, of a hundred rows."""
    program.history.run("delete from t0", "insert into t0 select id, 0, 0, 'a' from range(100)")
    return Target(program.history.session, name, QUERY, DifferentialConfig(("id",), "full"))


def operations(target: Target) -> list[str]:
    """Those of its commits, the first first."""
    log = TableLog(target.spark, target.name)
    return [log.commit(version).operation for version in range(log.version + 1)]


@pytest.fixture
def no_second_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ran once is known for good: no run is chosen by how long others took on this machine."""
    monkeypatch.setattr(costs, "COLD_SECONDS", -1e9)
    monkeypatch.setattr(costs, "LOOK_AGAIN_SHARE", 0.0)


def test_what_ran_only_once_runs_again(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    history = program.history
    target = Target(history.session, "differential.looked_at", "select id, s from t0", DifferentialConfig(("id",)))
    for most in ("LOOK_SECONDS", "COLD_SECONDS"):
        monkeypatch.setattr(costs, most, 1e9)
    monkeypatch.setattr(assumed, "ALONE", assumed.ALONE._replace(cold=1e9))
    history.run("delete from t0", "insert into t0 select id, 0, 0, 'a' from range(5000)")
    for number in range(3):
        history.run(f"insert into t0 values ({9000 + number}, 0, 0, 'b')")
        target.run()
        target.check(history, history.mark())
        assert target.reason.endswith("only once") == (number == 2), (number, target.reason)


def test_what_is_added_to_groups_is_tried_where_other_changes_would_take_too_long(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = program.history
    names = {"groups": ADDITIVE, "rows": "select id as k, s from t0"}
    targets = {
        name: Target(history.session, f"differential.tried_{name}", query, DifferentialConfig(("k",)))
        for name, query in names.items()
    }
    for name in ("FIXED", "FIXED_PER_TABLE"):
        monkeypatch.setattr(guess, name, 0.0)
    monkeypatch.setattr(assumed, "ADDED", assumed.Assumed(0.0, 0.0, cold=0.0))
    monkeypatch.setattr(assumed, "ALONE", assumed.Assumed(1e9, 1e9, cold=0.0))
    history.run("delete from t0", "insert into t0 select id, 0, 0, 'a' from range(5000)")
    for _ in range(2):
        for target in targets.values():
            target.run()
            target.check(history, history.mark())
        history.run("insert into t0 values (9000, 0, 0, 'b')")
    assert targets["groups"].reason.endswith("no more than 25%")
    assert "by the times of earlier runs" in targets["rows"].reason


def test_a_few_rows_deleted_in_each_file_are_no_reason_to_make_a_target_anew(
    program: Program, monkeypatch: pytest.MonkeyPatch, no_second_look: None
) -> None:
    history = program.history
    monkeypatch.setattr(refresh, "SPARED_SHARE", 1e9)
    target = Target(history.session, "differential.marked", QUERY, DifferentialConfig(("id",)))
    history.run("delete from t0", "insert into t0 select id, 0, 0, 'a' from range(5000)")
    target.run()
    for statement, reason in (
        ("delete from t0 where id % 500 = 7", "0.1% of the bytes of differential.t0 changed, no more than 25%"),
        ("delete from t0 where id % 500 = 8", "0.1% of the bytes of differential.t0 changed, no more than 25%"),
        ("update t0 set s = 'b'", "% of the bytes of differential.t0 changed, more than 25%"),
    ):
        history.run(statement)
        target.run()
        assert target.reason.endswith(reason), (statement, target.reason)
        target.check(history, history.mark())


def test_earlier_runs_tell_what_costs_less(
    program: Program, monkeypatch: pytest.MonkeyPatch, no_second_look: None
) -> None:
    history = program.history
    target = Target(history.session, "differential.timed", "select id, s from t0", DifferentialConfig(("id",)))
    history.run("delete from t0", "insert into t0 select id, 0, 0, 'a' from range(5000)")
    monkeypatch.setattr(refresh, "SPARED_SECONDS", 1e9)
    reasons = []
    for number, share in enumerate((1e9, 1e9, -1e9, -1e9)):
        monkeypatch.setattr(refresh, "SPARED_SHARE", share)
        if number == 3:  # as a stream on the target does: from then on seconds count as well
            history.run(f"alter table {target.name} set tblproperties ('delta.enableRowTracking' = 'true')")
        history.run(f"insert into t0 values ({9000 + number}, 0, 0, 'b')")
        target.run()
        target.check(history, history.mark())
        reasons.append(target.reason)
    assert reasons[0] == "first run" and reasons[2].startswith("by the times of earlier runs, ")
    assert all("no more than 25%" in reasons[number] for number in (1, 3))
    known = resolve_cursor(TableLog(history.session, target.name), target.consumer).costs
    assert known.anew is not None and known.by_changes is not None
    assert known.anew.seconds > 0 and known.by_changes.seconds > 0
    assert 0 < known.by_changes.size < known.anew.size


def test_the_state_of_a_log_is_computed_ahead_where_the_commit_asks_for_it(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, by_key = program.history, DifferentialConfig(("id",), "incremental")
    target = Target(history.session, "differential.ahead", "select id, s from t0", by_key)
    anew = Target(history.session, target.name, target.query, DifferentialConfig(("id",), "full"))
    history.run("delete from t0", "insert into t0 select id, 0, 0, 'a' from range(10)")
    target.run()
    asked: list[TableLog] = []
    pool = SimpleNamespace(submit=lambda read, log, snapshot: asked.append(log))
    monkeypatch.setattr(planner._ahead, "_pool", pool)
    history.run("insert into t0 values (11, 0, 0, 'b')")
    target.run()
    assert not asked  # a merge by position gives no ids
    history.run("insert into t0 values (12, 0, 0, 'b')")
    anew.run()
    assert {log.name for log in asked} == {target.name}
    asked.clear()
    history.run(f"alter table {target.name} set tblproperties ('delta.enableRowTracking' = 'true')")
    anew.run()
    target.run()
    assert not asked  # nothing has changed
    history.run("insert into t0 values (13, 0, 0, 'b')")
    target.run()
    assert [log.name for log in asked] == [target.name]


@pytest.mark.parametrize("query", [ADDITIVE, "select id as k, d, s from t0"], ids=["groups", "rows"])
def test_a_run_that_is_overtaken_is_planned_again(program: Program, query: str) -> None:
    """What the other run has written, the later change takes back: no key of it is in the plan that is overtaken, nor
    is NULL, which changes later too."""
    history, config = program.history, DifferentialConfig(("k",), "incremental")
    history.run(
        "delete from t0",
        "delete from t1",
        "insert into t1 values (1, 1, true), (2, 2, true), (9, 9, true), (0, null, true)",
    )
    history.run("insert into t0 values (1, 1, 1.50, 'a'), (2, 2, 2.50, 'b'), (null, null, 3.50, 'c')")
    ours, theirs = (
        Target(session_with(program.history.spark, history.confs, history.schema), "differential.raced", query, config)
        for _ in range(2)
    )
    ours.run()
    history.run("update t0 set d = 7 where id = 1")
    early = theirs.plan()
    history.run("update t0 set d = 1.50 where id = 1", "insert into t0 values (9, 9, 9.00, 'z')")
    history.run("update t0 set d = 4.50 where id is null")
    late = ours.plan()
    early()
    outcome = late()
    assert outcome is not None and outcome.tries == 2
    ours.check(history, history.mark())


def test_new_rows_are_inserted_and_others_merged(program: Program) -> None:
    history, by_ids = program.history, DifferentialConfig(refresh="incremental")
    target = Target(history.session, "differential.appended", QUERY, by_ids)
    rounds = (
        ("insert into t0 values (1, 1, 1, 'a'), (1, 1, 1, 'a')", "CREATE OR REPLACE TABLE AS SELECT"),
        ("insert into t0 values (1, 1, 1, 'a'), (2, 1, null, null)", "WRITE"),
        ("update t0 set s = 'b' where id = 2", "MERGE"),
        ("update t0 set k = 5 where id = 2", "WRITE"),  # which changes nothing here, but the offset
        ("delete from t0 where id = 1", "MERGE"),
    )
    history.run("delete from t0")
    for statement, operation in rounds:
        history.run(statement)
        target.run()
        target.check(history, history.mark())
        assert operations(target)[-1] == operation, statement
    assert resolve_cursor(TableLog(history.session, target.name), target.consumer).n == len(rounds)


def test_an_insert_that_is_overtaken_is_refused_where_rows_have_changed_since(program: Program) -> None:
    history, by_ids = program.history, DifferentialConfig(refresh="incremental")
    ours, theirs = (
        Target(session_with(history.spark, history.confs, history.schema), "differential.overtaken", QUERY, by_ids)
        for _ in range(2)
    )
    history.run("delete from t0", "insert into t0 values (1, 1, 1, 'a')")
    ours.run()
    history.run("insert into t0 values (3, 1, 1, 'a')")
    early = theirs.plan()
    history.run("update t0 set s = 'b' where id = 3")
    late = ours.plan()
    early()
    with pytest.raises(Exception, match="another run came first, and rows have changed since"):
        late()
    ours.run()
    ours.check(history, history.mark())
