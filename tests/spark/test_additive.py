"""Groups that are kept by adding to them what changed, held after each round against the groups computed anew.

STREAMSPARK_QUERY_SEED sets what the tables, statements and queries are made of.
"""

from __future__ import annotations

import os
from decimal import Decimal
from itertools import pairwise
from random import Random

import pytest
from pyspark.sql import Row, SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.differentiate.additive import LOST, additive
from dbt.adapters.streamspark.changes.differentiate.local_rows import keep
from dbt.adapters.streamspark.changes.group_changes import group_changes
from dbt.adapters.streamspark.consume.additive_merge import additive_merge
from dbt.adapters.streamspark.consume.apply_changes import ROW
from dbt.adapters.streamspark.consume.key_range import key_range
from dbt.adapters.streamspark.consume.keyed_changes import KeyedChanges
from tests.spark.queries.history import History
from tests.spark.queries.oracle import bag
from tests.spark.queries.programs import Program, Table

SEED = os.environ.get("STREAMSPARK_QUERY_SEED", "1")
ROUNDS = 5
TABLES = [
    Table("t0", {"id": "int", "k": "int", "d": "decimal(10,2)", "s": "string"}),
    Table("t1", {"id": "int", "k": "int", "b": "boolean"}),
]
QUERIES = {
    "one_table": "select k, count(*) as n, sum(d) as total, count(d) as known, s from t0 group by k, s",
    "renamed": "select sum(cast(id as bigint)) as `sum-of-ids`, k % 2 as `odd-key`, k from t0 group by k, k % 2",
    "joined": "select l.s, count(r.b) as n, sum(l.d * r.k) as total from t0 l join t1 r on l.k = r.k group by l.s",
    "left_join": "select r.k, count(l.id) as n, sum(l.k) as total from t1 r left join t0 l on l.k = r.k group by r.k",
    "united": "select k, sum(n) as n from (select k, 1 as n from t0 union all select k, 2 as n from t1) q group by k",
    "of_groups": "select n, count(*) as groups, sum(k) as keys from (select k, count(*) as n from t0 group by k) q group by n",
    "averaged": "select k, avg(d) as mean, avg(d * 3) as thrice, count(*) as n from t0 group by k",
    "extremes": "select min(d) as least, s, max(id) as `most-ids`, sum(k) as total, max(s) as t from t0 group by s",
    "extremes_joined": "select l.k % 3 as g, min(r.b) as b, max(l.d) as d, count(*) as n from t0 l join t1 r on l.k = r.k "
    "group by l.k % 3",
    "greatest": "select k, max(id) as newest from t0 group by k",
    "by_float": "select cast(id % 2 as double) / if(k = 0, -1, 1) as f, count(*) as n from t1 group by all",
}


@pytest.fixture(scope="module")
def program(spark: SparkSession) -> Program:
    made = Program(History(spark, "additive"), Random(f"{SEED}/additive"), TABLES)
    made.create()
    made.history.mark()
    for _ in range(ROUNDS):
        made.round()
    return made


@pytest.mark.parametrize("name", QUERIES)
def test_groups_take_up_what_changed(program: Program, name: str) -> None:
    history, target = program.history, f"additive.kept_{name}"
    session, query = history.session, ChangeQuery(history.session, QUERIES[name])
    frontiers = [query.frontier(point) for point in history.points]
    group_changes(query.interval(None, frontiers[0])).createOrReplaceTempView("groups")
    session.sql(f"create or replace table {target} using delta as select * from groups")
    for number in range(1, len(frontiers)):
        added = keep(group_changes(query.interval(*frontiers[number - 1 : number + 1])))
        added.frame.createOrReplaceTempView("added")
        groups = additive(query.interval(None, frontiers[number]).lowered)
        assert groups is not None
        session.sql(additive_merge(groups, target, "added", key_range(added, groups.keys).test).sql())
        expected = group_changes(query.interval(None, frontiers[number]))
        kept = session.table(target).collect()
        assert bag(kept) == bag(expected.collect())
        own = [Row(*(row[part.column] for part in groups.parts)) for row in kept]
        assert bag(own) == bag(history.at(QUERIES[name], number))


@pytest.mark.parametrize(
    "query",
    [
        "select k, avg(k) as a from t0 group by k",
        "select k, avg(distinct d) as a from t0 group by k",
        "select k, avg(cast(d as decimal(16, 2))) as a from t0 group by k",
        "select k, sum(cast(d as double)) as a from t0 group by k",
        "select k, count(distinct s) as a from t0 group by k",
        "select k, max(cast(d as double)) as a from t0 group by k",
        "select k, min(struct(d, s)) as a from t0 group by k",
        "select k, max(s collate utf8_lcase) as a from t0 group by k",
        "select k, max(d) as __lost from t0 group by k",
        "select k, count(*) filter (where s is null) as a from t0 group by k",
        "select k, sum(d) + 1 as a from t0 group by k",
        "select k, sum(cast(d as decimal(38, 7))) as a from t0 group by k",
        "select k, sum(if(current_date() > date'2020-01-01', 1, 0)) as a from t0 group by k",
        "select count(*) as a from t0 group by k",
        "select count(*) as a from t0",
        "select k, count(*) as a from t0 group by k having count(*) > 1",
        "select k, count(*) as __count from t0 group by k",
        "select k, id from t0",
    ],
)
def test_others_do_not_add_up(program: Program, query: str) -> None:
    asked = ChangeQuery(program.history.session, query)
    assert additive(asked.interval(None, asked.frontier(program.history.points[0])).lowered) is None


def test_extremes_are_found_again_in_groups_that_lost_rows_alone(spark: SparkSession) -> None:
    history = History(spark, "extremes")
    history.table("t", "k int, v int")
    history.run("insert into t values (1, 5), (1, 7), (2, 5), (2, 7), (3, 1)")
    history.marked(
        ["insert into t values (1, 9), (1, 6), (4, null)"],
        ["delete from t where k = 2 and v = 7", "insert into t values (1, 2), (2, 6)", "delete from t where k = 3"],
    )
    query = ChangeQuery(history.session, "select k, min(v) as low, max(v) as high from t group by k")
    first, then = [
        {row["k"]: (row["low"], row["high"], row[LOST]) for row in group_changes(query.interval(*points)).collect()}
        for points in pairwise(query.frontier(point) for point in history.points)
    ]
    assert first == {1: (6, 9, False), 4: (None, None, False)}
    assert then == {1: (2, 2, False), 2: (5, 6, True), 3: (None, None, True)}
    history.drop()


def test_sums_of_the_longest_decimals_are_exact(spark: SparkSession) -> None:
    """Spark's minus sign rounds to 34 digits."""
    history = History(spark, "long_decimals")
    history.table("t", "k int, d decimal(38,0), e decimal(38,6)")
    long = "12345678901234567890123456789012"
    history.run(f"insert into t values (1, 1, 1), (1, {long}345678, {long}.345678)")
    history.marked(["delete from t where d > 1"])
    query = ChangeQuery(history.session, "select k, sum(d) as d, sum(e) as e from t group by k")
    row = group_changes(query.interval(*(query.frontier(point) for point in history.points))).collect()[0]
    assert (row["d"], row["e"]) == (Decimal(f"-{long}345678"), Decimal(f"-{long}.345678"))
    history.drop()


def test_sums_that_fit_of_parts_that_do_not(spark: SparkSession) -> None:
    """The least bigint has no opposite, and two of them differ by more than the greatest."""
    history, least = History(spark, "long_sums"), -(2**63)
    session = history.session
    history.table("t", "k int, v bigint")
    history.run(f"insert into t values (1, {least}), (1, 1), (2, {least}), (3, 7)")
    history.marked([f"delete from t where v = {least}", f"insert into t values (2, {-least - 1}), (4, {least})"])
    query = ChangeQuery(session, "select k, sum(v) as total from t group by k")
    start, end = (query.frontier(point) for point in history.points)
    groups = additive(query.interval(None, start).lowered)
    assert groups is not None
    group_changes(query.interval(None, start)).write.format("delta").saveAsTable("long_sums.kept")
    group_changes(query.interval(start, end)).createOrReplaceTempView("added")
    session.sql(additive_merge(groups, "long_sums.kept", "added", "").sql())
    kept = {row["k"]: row["total"] for row in session.table("long_sums.kept").collect()}
    assert kept == {1: 1, 2: 2**63 - 1, 3: 7, 4: least}
    assert session.table("long_sums.kept").schema["total"].dataType.simpleString() == "bigint"
    history.drop()


def test_variants_of_one_json_are_two_values(spark: SparkSession) -> None:
    history = History(spark, "variants")
    history.table("t", "id int, note string")
    history.run("insert into t values (1, '1')")
    history.marked(["update t set note = '1.0'"])
    query = ChangeQuery(history.session, "select id, parse_json(note) as v from t")
    rows = KeyedChanges("m", ("id",))(query.interval(*map(query.frontier, history.points)))
    assert [str(row[ROW]["v"].toPython()) for row in rows.collect()] == ["1.0"]
    history.drop()


def test_a_clock_below_the_groups_is_asked_at_both_ends(spark: SparkSession) -> None:
    history = History(spark, "timed_groups")
    history.table("t", "k int, at timestamp")
    history.run("insert into t values (1, current_timestamp() - interval 1 hour)")
    history.marked(["insert into t values (1, current_timestamp() - interval 2 hours)"])
    query = ChangeQuery(history.session, "select k, count(*) as n from t where at < current_timestamp() group by k")
    assert [row["n"] for row in group_changes(query.interval(*map(query.frontier, history.points))).collect()] == [1]
    history.drop()


def test_a_group_that_loses_more_than_it_has_is_an_error(program: Program) -> None:
    history = program.history
    session, query = history.session, ChangeQuery(history.session, "select k, count(*) as n from t0 group by k")
    groups = additive(query.interval(None, query.frontier(history.points[0])).lowered)
    assert groups is not None
    session.sql("create or replace table additive.robbed using delta as select 7 as k, 1L as n, 1L as __count")
    for key in (7, 8):
        session.sql(f"select {key} as k, -2L as n, -2L as __count").createOrReplaceTempView("added")
        with pytest.raises(Exception, match=r'rows have gone from a group that had none of them: \{"k":'):
            session.sql(additive_merge(groups, "additive.robbed", "added", "").sql())
    assert session.table("additive.robbed").count() == 1
