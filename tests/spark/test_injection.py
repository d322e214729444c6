"""Text that others chose, on Spark: the environment stays where it is, predicates stay predicates, names name nothing else."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.commit import commit
from dbt.adapters.streamspark.consume.predicate import predicate
from dbt.adapters.streamspark.errors import InvalidQuery, StreamsparkError, UnknownName
from dbt.adapters.streamspark.literals import literal
from dbt.adapters.streamspark.operate.audit_consumer import audit_consumer
from dbt.adapters.streamspark.operate.project import Project
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.session import isolated
from tests.consuming import APPEND, Model, add, make_source, path_table
from tests.unit.test_injection import NASTY

HOME = "${env:HOME}"


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    return isolated(spark, {})


def test_the_environment_is_there_to_be_taken(spark: SparkSession) -> None:
    """What the tests below are about: Spark does this."""
    assert spark.newSession().sql(f"select '{HOME}'").first() == (os.environ["HOME"],)


def test_in_a_session_of_ours_it_is_text(session: SparkSession) -> None:
    assert session.sql(f"select '{HOME}' as `{HOME}`").first() == (HOME,)
    assert session.sql(f"select '{HOME}' as `{HOME}`").columns == [HOME]


@pytest.mark.parametrize("text", NASTY)
def test_a_literal_is_what_it_was_in_any_session(spark: SparkSession, text: str) -> None:
    assert spark.sql(f"select {literal(text)}, 1").first() == (text, 1)


def test_commit_metadata_tells_nothing_of_the_environment(session: SparkSession, tmp_path: Path) -> None:
    source = make_source(session, path_table(tmp_path, "source"))
    model = Model(session, path_table(tmp_path, "target"), {"s": source})
    session.sql(f"create table {model.target} (id int, v string) using delta")
    plan = model.plan()
    query = f"select * from t where v <> '{HOME}'"
    plan = replace(plan, reads=tuple(replace(read, query=query) for read in plan.reads))
    commit(session, plan, [APPEND.format(target=model.target, s=plan.reads[0].sql)], model.plan)
    written = (tmp_path / "target" / "_delta_log" / f"{1:020d}.json").read_text()
    assert os.environ["HOME"] + "'" not in written
    assert model.cursor().queries == {"s": query}
    add(model, 3)
    assert model.run(APPEND).version == 2


@pytest.mark.parametrize(
    "text", ["a = 1", "a = 1 or b = 2", "a = 1 -- only these", "a in (select 1)", "a /* b */ = '('"]
)
def test_a_predicate_stays_one(session: SparkSession, text: str) -> None:
    whole = predicate(session, text, "replace_where")
    assert session.sql(f"select count(*) from values (3, 4) as t (a, b) where false and {whole} and false").first() == (
        0,
    )


@pytest.mark.parametrize(
    "text", ["true) or (true", "true; drop table t", "true or", "", "a = 'x", "true) union (select 1"]
)
def test_what_is_no_predicate_is_refused(session: SparkSession, text: str) -> None:
    with pytest.raises(InvalidQuery, match="replace_where = "):
        predicate(session, text, "replace_where")


@pytest.mark.parametrize("text", NASTY)
def test_what_an_operation_is_asked_about_names_nothing_else(session: SparkSession, text: str) -> None:
    before = session.sql("show tables in default").count()
    for given in (text, f"default.{text}"):
        scope = Scope(session, Project("default", ()))
        with pytest.raises(UnknownName):
            scope.stream(given)
        with pytest.raises(UnknownName):
            scope.table(given)
    with pytest.raises(UnknownName):
        _ = Scope(session, Project("default", ()), schema=text).schemas
    assert session.sql("show tables in default").count() == before


@pytest.mark.parametrize("query", ["drop table default.audited", "select 1 as id; drop table default.audited"])
def test_an_audit_s_query_is_a_query(session: SparkSession, query: str) -> None:
    session.sql("create table if not exists default.audited (id int) using delta")
    with pytest.raises(StreamsparkError):
        audit_consumer(Scope(session, Project("default", ())), "audited", query)
    assert session.catalog.tableExists("default.audited")
