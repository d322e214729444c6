"""The session layer against Spark: one test for each fault of dbt-spark's session method, and what we add."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.contracts.connection import Connection
from dbt.mp_context import get_mp_context
from dbt_common.exceptions import DbtDatabaseError
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.connections import (
    StreamsparkConflictError,
    StreamsparkConnectionManager,
    StreamsparkDatabaseError,
)
from dbt.adapters.streamspark.credentials import StreamsparkCredentials
from dbt.adapters.streamspark.launch import LaunchOptions
from dbt.adapters.streamspark.session import Session, thread_session
from dbt.adapters.streamspark.spark_errors import ConflictError, SqlError, as_sql_error, is_conflict


def in_thread(function: Callable[[], Any]) -> Any:
    """What `function` returns when it runs in a thread of its own."""
    results: list[Any] = []
    worker = threading.Thread(target=lambda: results.append(function()))
    worker.start()
    worker.join()
    return results[0]


@pytest.fixture
def options(warehouse: Path) -> LaunchOptions:
    return LaunchOptions(warehouse=warehouse)


@pytest.fixture
def session(spark: SparkSession, options: LaunchOptions) -> Session:
    return thread_session(options)


@pytest.fixture(scope="module")
def manager(spark: SparkSession, warehouse: Path) -> Iterator[StreamsparkConnectionManager]:
    credentials = StreamsparkCredentials(schema="default", warehouse_dir=str(warehouse))
    profile = SimpleNamespace(credentials=credentials, threads=1, project_root=str(warehouse), query_comment=None)
    made = StreamsparkConnectionManager(profile, get_mp_context())
    made.set_connection_name("test")
    yield made
    made.cleanup_all()


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    spark.sql("create schema if not exists session_tests")
    yield "session_tests"
    spark.sql("drop schema session_tests cascade")


# -- the sessions


def test_a_running_session_is_reused(spark: SparkSession, session: Session) -> None:
    assert session.spark._sc is spark._sc
    assert session.spark is not spark


def test_a_thread_keeps_its_session(session: Session, options: LaunchOptions) -> None:
    assert thread_session(options) is session


def test_threads_share_neither_confs_nor_views_nor_schema(
    session: Session, options: LaunchOptions, schema: str
) -> None:
    def leave_things_behind() -> Session:
        other = thread_session(options)
        other.execute("create temporary view only_there as select 1 as a")
        other.execute("set spark.sql.shuffle.partitions = 123")
        other.execute(f"use {schema}")
        return other

    other = in_thread(leave_things_behind)
    assert other is not session
    with pytest.raises(SqlError, match="TABLE_OR_VIEW_NOT_FOUND"):
        session.execute("select * from only_there")
    assert session.spark.conf.get("spark.sql.shuffle.partitions") != "123"
    assert session.execute("select current_schema()").fetchone() == ("default",)


def test_ansi_is_left_as_it_is(spark: SparkSession, session: Session) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    session.execute("select 1")
    assert session.spark.conf.get("spark.sql.ansi.enabled") == before == "true"


def test_spark_config_reaches_each_session_of_a_running_spark(spark: SparkSession, warehouse: Path) -> None:
    config = {"spark.sql.shuffle.partitions": "3", "spark.driver.memory": "1g"}
    options = LaunchOptions(warehouse=warehouse, spark_config=config)
    assert in_thread(lambda: thread_session(options).spark.conf.get("spark.sql.shuffle.partitions")) == "3"


def test_tables_are_delta_unless_said_otherwise(session: Session, schema: str) -> None:
    session.execute(f"create table {schema}.t (a int)")
    assert session.execute(f"describe detail {schema}.t").fetchone()[0] == "delta"  # type: ignore[index]


# -- statements


def test_bindings_arrive_as_they_were_sent(session: Session) -> None:
    values = [
        None,
        Decimal("12345678901234567890.12"),
        'it\'s 100% "quoted" \\ `odd`',
        True,
        2**40,
        0.1,
        b"\x00\xff",
        date(2026, 3, 1),
        datetime(2026, 3, 1, 12, 30, 15, 250000),
    ]
    result = session.execute("select " + ", ".join(["%s"] * len(values)), values)
    assert result.fetchall() == [tuple(values)]


def test_a_binding_with_a_time_zone_is_the_same_instant(session: Session) -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
    assert session.execute("select unix_seconds(%s)", [noon]).fetchone() == (int(noon.timestamp()),)


def test_nan_is_bound(session: Session) -> None:
    assert session.execute("select isnan(%s)", [float("nan")]).fetchone() == (True,)


def test_percent_signs_in_the_statement_stay(session: Session) -> None:
    assert session.execute("select 'a%b', 7 % 4, %s", [1]).fetchone() == ("a%b", 3, 1)


def test_a_query_runs_when_it_is_executed(session: Session) -> None:
    with pytest.raises(SqlError, match="USER_RAISED_EXCEPTION"):
        session.execute("select raise_error('now')")


def test_errors_carry_their_class_and_state(session: Session) -> None:
    with pytest.raises(SqlError) as caught:
        session.execute("select 1 / 0")
    assert (caught.value.condition, caught.value.state) == ("DIVIDE_BY_ZERO", "22012")
    assert "stacktrace" not in str(caught.value)


def test_deltas_errors_carry_theirs(session: Session, schema: str) -> None:
    session.execute(f"create table {schema}.narrow (a int)")
    with pytest.raises(SqlError) as caught:
        session.execute(f"select * from {schema}.narrow version as of 99")
    assert str(caught.value.condition).startswith("DELTA_")


def test_a_trailing_semicolon_is_no_error(session: Session) -> None:
    assert session.execute("select 1 ;\n").fetchone() == (1,)


def test_columns_are_described(session: Session) -> None:
    result = session.execute("select 1 as a, cast(null as decimal(5,2)) as b")
    assert [(c[0], c[1], c[6]) for c in result.columns] == [("a", "int", False), ("b", "decimal(5,2)", True)]


def test_fetching_in_pieces(session: Session) -> None:
    result = session.execute("select id from range(5) order by id")
    assert result.fetchmany(2) == [(0,), (1,)]
    assert result.fetchone() == (2,)
    assert result.fetchall() == [(3,), (4,)]


def test_nothing_is_printed_for_a_failing_statement(session: Session, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SqlError):
        session.execute("select no_such_column")
    assert capfd.readouterr() == ("", "")


def test_cancel_ends_a_running_statement(session: Session, options: LaunchOptions) -> None:
    started: list[Session] = []

    def run_long() -> str:
        started.append(thread_session(options))
        try:
            started[0].execute("select count(*) from range(1000000000000) where md5(string(id)) = 'x'")
        except SqlError as error:
            return str(error.condition)
        return "finished"

    def cancel_soon() -> None:
        while not started:
            time.sleep(0.05)
        time.sleep(2)
        started[0].cancel()

    canceller = threading.Thread(target=cancel_soon)
    canceller.start()
    assert in_thread(run_long) != "finished"
    canceller.join()


# -- conflicts


def test_a_conflict_is_told_apart(spark: SparkSession, session: Session, schema: str) -> None:
    """Two transactions of one application id: the second is refused by Delta as a concurrent one."""
    name = f"{schema}.conflicted"
    session.execute(f"create table {name} as select 1 as a")
    jvm: Any = spark._jvm
    identifier = spark._jsparkSession.sessionState().sqlParser().parseTableIdentifier(name)
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, identifier)
    none = jvm.scala.Option.empty()
    transaction = log.startTransaction(none, none)
    transaction.txnVersion("app")
    session.spark.conf.set("spark.databricks.delta.write.txnAppId", "app")
    session.spark.conf.set("spark.databricks.delta.write.txnVersion", "1")
    session.execute(f"insert into {name} values (2)")
    session.spark.conf.unset("spark.databricks.delta.write.txnAppId")
    session.spark.conf.unset("spark.databricks.delta.write.txnVersion")
    with pytest.raises(Exception) as caught:
        transaction.commit(scala_object(spark, "scala.collection.immutable.Nil$"), manual_update(spark))
    assert is_conflict(caught.value)
    assert isinstance(as_sql_error(caught.value), ConflictError)


def scala_object(spark: SparkSession, name: str) -> Any:
    loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()  # type: ignore[union-attr]
    return loader.loadClass(name).getField("MODULE$").get(None)


def manual_update(spark: SparkSession) -> Any:
    return scala_object(spark, "org.apache.spark.sql.delta.DeltaOperations$ManualUpdate$")


# -- dbt's connection


def run(manager: StreamsparkConnectionManager, sql: str) -> Any:
    return manager.execute(sql, fetch=True)


def test_dml_says_how_many_rows(manager: StreamsparkConnectionManager, schema: str) -> None:
    run(manager, f"create table {schema}.counted (k int, v string)")
    response, _ = run(manager, f"insert into {schema}.counted values (1, 'a'), (2, 'b'), (3, 'c')")
    assert (response.rows_affected, response.rows_inserted) == (3, 3)
    response, _ = run(manager, f"create table {schema}.copied as select * from {schema}.counted where k < 3")
    assert response.rows_affected == 2
    response, _ = run(manager, f"create view {schema}.seen as select * from {schema}.counted")
    assert response.rows_affected is None
    merge = (
        f"merge into {schema}.counted t using (select * from values (1, 'x'), (2, null), (9, 'n') s(k, v)) s "
        "on s.k = t.k when matched and s.v is null then delete when matched then update set * "
        "when not matched then insert *"
    )
    response, _ = run(manager, merge)
    counts = (response.rows_affected, response.rows_inserted, response.rows_updated, response.rows_deleted)
    assert counts == (3, 1, 1, 1)
    assert str(response) == "OK 3 rows"


def test_limits_fetch_no_more(manager: StreamsparkConnectionManager) -> None:
    _, table = manager.execute("select id from range(10)", fetch=True, limit=3)
    assert len(table.rows) == 3


def test_dbt_sees_a_database_error_with_the_condition(manager: StreamsparkConnectionManager) -> None:
    with pytest.raises(DbtDatabaseError) as caught:
        run(manager, "select * from no_such_table")
    assert isinstance(caught.value, StreamsparkDatabaseError)
    assert caught.value.condition == "TABLE_OR_VIEW_NOT_FOUND"


def test_dbt_sees_a_conflict_as_its_own_type(manager: StreamsparkConnectionManager) -> None:
    with pytest.raises(StreamsparkConflictError, match="DELTA_CONCURRENT_APPEND"), manager.exception_handler("merge"):
        raise ConflictError("[DELTA_CONCURRENT_APPEND] files were added", "DELTA_CONCURRENT_APPEND")


def test_dbt_cancels_the_session_of_the_connection(manager: StreamsparkConnectionManager) -> None:
    calls: list[str] = []
    handle = SimpleNamespace(cancel=lambda: calls.append("cancelled"))
    manager.cancel(Connection(type="streamspark", name="x", credentials=None, handle=handle))  # type: ignore[arg-type]
    assert calls == ["cancelled"]


# -- relations and seeds, through the adapter


class TestRelations:
    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {"odd.csv": "id,at,amount,note\n1,23:59:00,1.5,it's 100%\n2,,,\n"}

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"a_view.sql": "select 1 as id"}

    def list(self, project: Any) -> dict[str, str]:
        with project.adapter.connection_named("list"):
            relation = project.adapter.Relation.create(schema=project.test_schema, identifier="")
            found = project.adapter.list_relations_without_caching(relation.without_identifier())
        return {each.identifier: each.type for each in found}

    def test_types_and_no_temporary_views(self, project: Any) -> None:
        schema = project.test_schema
        project.run_sql(f"create table {schema}.a_table as select 1 as id")
        project.run_sql(f"create view {schema}.a_view as select 1 as id")
        project.run_sql(
            f"create view {schema}.a_stream tblproperties ('streamspark.kind' = 'stream', "
            "'streamspark.mode' = 'standard') as select 1 as id"
        )
        project.run_sql("create or replace temporary view not_listed as select 1 as id")
        assert self.list(project) == {"a_table": "table", "a_view": "view", "a_stream": "stream"}

    def test_a_stream_is_renamed_and_dropped_as_the_view_it_is(self, project: Any) -> None:
        schema = project.test_schema
        properties = "tblproperties ('streamspark.kind' = 'stream')"
        project.run_sql(f"create or replace view {schema}.old {properties} as select 1 as id")
        create = project.adapter.Relation.create
        old = create(schema=schema, identifier="old", type="stream")
        new = create(schema=schema, identifier="new", type="stream")
        with project.adapter.connection_named("rename"):
            project.adapter.rename_relation(old, new)
        assert self.list(project).get("new") == "stream"
        with project.adapter.connection_named("drop"):
            project.adapter.drop_relation(new)
        assert "new" not in self.list(project)

    def test_a_seed_with_times_and_nulls_and_quotes(self, project: Any) -> None:
        from dbt.tests.util import run_dbt

        run_dbt(["seed"])
        rows = project.run_sql(f"select * from {project.test_schema}.odd order by id", fetch="all")
        assert rows == [(1, "23:59:00", 1.5, "it's 100%"), (2, None, None, None)]
