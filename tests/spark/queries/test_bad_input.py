"""What a change query refuses, and what it says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes import Frontier, changes
from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.errors import (
    BrokenSource,
    InvalidInterval,
    InvalidQuery,
    InvalidStreamConfig,
    StaleSource,
    UnsupportedQuery,
)
from tests.spark.queries.history import History
from tests.spark.queries.test_traps import set_time

RECURSIVE = (
    "with recursive r (n) as (\nselect 1 union all select n + 1 from r where n < 3)\n"
    "select t.id from t join r on r.n = t.id"
)
# Spark 4.2 pushes the subquery through the union and looks there for what the subquery is correlated by.
UNPLANNABLE = (
    "select a, (select count(*) from (select w from u where id = 2) q where w = a) as n "
    "from ((select id as a from t) union all (select cast(0.00BD as int) from t)) p"
)


@pytest.fixture(scope="module")
def bad(spark: SparkSession) -> Iterator[History]:
    history = History(spark, "query_bad")
    history.table("t", "id int, v int")
    history.table("u", "id int, w int")
    history.run(
        "insert into t values (1, 1), (2, 2)",
        "insert into u values (1, 1)",
        "create table plain (id int) using parquet",
        "create table untracked (id int) using delta",
        "create view piped as from t |> drop v",
        "create view dice as select id, rand() as r from t",
        "create view over_dice as select id from dice where r > 0.5",
        *("create table ring as select 1 as id", "create view other as select * from ring"),
        *("create view closing as select * from other", "drop table ring"),
    )
    renamed(history, "closing", "ring")
    history.session.createDataFrame([(1,)], "id int").createOrReplaceTempView("framed")
    yield history.marked(["update t set v = 3 where id = 1"], ["insert into u values (2, 2)"])
    history.drop()


def renamed(history: History, old: str, new: str) -> None:
    """In the catalog alone: Spark's own statement would notice that the view comes to read itself."""
    jvm: Any = history.session._jvm
    schema = jvm.scala.Option.apply(history.schema)
    names = (jvm.org.apache.spark.sql.catalyst.TableIdentifier(name, schema) for name in (old, new))
    history.session._jsparkSession.sessionState().catalog().renameTable(*names)


def of(history: History, query: str, **options: Any) -> list[Any]:
    return changes(history.session, query, history.points[0], history.points[1], **options).collect()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select (1 from t", r"the query cannot be parsed: .*Expecting \)"),
        (
            "select * from piped",
            r"view spark_catalog\.query_bad\.piped cannot be parsed: .*write that part in another",
        ),
        ("select 1; select 2", "one query is needed, found 2 statements"),
        ("", "one query is needed, found 0 statements|a query is needed"),
        ("delete from t", "a query is needed, found DELETE: "),
        ("select * from nothing", r"table or view query_bad\.nothing does not exist"),
        ("select * from t join elsewhere.nothing n on n.id = t.id", r"table or view elsewhere\.nothing does not exist"),
        ("select * from plain", "plain is no Delta table: change queries read the log that only Delta keeps"),
        ("select nothing from t", r"Spark does not accept the query: .*UNRESOLVED_COLUMN.*nothing"),
        ("select id from t, u", r"Spark does not accept the query: .*AMBIGUOUS_REFERENCE.*id"),
        ("select id, sum(v) from t", "Spark does not accept the query: .*MISSING_GROUP_BY"),
        (
            "select t.id, u.id from t join u on t.id = u.id",
            "the query gives column id twice; give one of them another name",
        ),
        ("select * from t join u on t.id = u.id", "the query gives column id twice"),
        ("select id, v, id as ID2, V from t", "the query gives column v twice"),
        (
            "select id from t union all by name select id from u",
            "Spark does not accept the query: .*PARSE_SYNTAX_ERROR",
        ),
        ("select id, (select id, w from u) x from t", "Spark does not accept the query: .*SCALAR_SUBQUERY"),
        (UNPLANNABLE, r"Spark cannot plan the query: .*NoSuchElementException"),
        ("select * from ring", r"views are nested more than 50 deep; is one of them defined by itself\?"),
        ("select id as _row_id from t", r"metadata columns would hide: _row_id\. Give them other names"),
    ],
)
def test_no_query(bad: History, query: str, message: str) -> None:
    with pytest.raises(InvalidQuery, match=message):
        of(bad, query)


def test_hidden_columns_are_those_of_the_dialect(bad: History) -> None:
    assert len(of(bad, "select id, v as _row_id from t", metadata_columns="snowflake")) == 2


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "select id, rand() r from t",
            r"rand\(\) gives another value each time it is asked.*at|rand\(\) gives another value each time.*: .*RAND",
        ),
        ("select id from t where uuid() > 'a'", r"uuid\(\) gives another value each time"),
        ("select id, monotonically_increasing_id() m from t", r"monotonically_increasing_id\(\) gives another value"),
        ("select id, current_user() m from t", r"current_user\(\) gives another value"),
        ("select * from dice", r"rand\(\) gives another value each time"),
        ("select count(*) n from over_dice", r"rand\(\) gives another value each time"),
        ("with a as (select id, rand() x from t) select id from u", r"rand\(\) gives another value each time"),
        ("select * from t tablesample (50 percent)", "TABLESAMPLE takes other rows each time it is asked"),
        (
            "select * from t limit 2",
            "LIMIT without ORDER BY gives any rows there are.*Add an ORDER BY that leaves no ties",
        ),
        ("select * from u where id in (select id from t limit 1)", "LIMIT without ORDER BY"),
        ("select id from t union all select id from u limit 1", "LIMIT without ORDER BY"),
        ("select * from t version as of 1", "a table at a fixed version has no changes: .*t"),
        (
            "select * from u join t timestamp as of '2020-01-01' x on x.id = u.id",
            "a table at a fixed version has no changes",
        ),
        ("select id, current_time() m from t", r"current_time\(\) is not bound to a time yet"),
        (
            f"{RECURSIVE} where current_date() > date'2020-01-01'",
            "the query tells the time, and has a part without a rule: a recursive WITH",
        ),
        ("select * from framed", "view framed was made from a DataFrame and has no SQL text"),
    ],
)
def test_no_fixed_result(bad: History, query: str, message: str) -> None:
    with pytest.raises(UnsupportedQuery, match=message):
        of(bad, query)


def test_tables_that_are_read_but_not_named(bad: History) -> None:
    """Their rows are there in the plan, but only the newest: what changed in them would be lost."""
    bad.run(
        "create or replace temporary function most() returns int return (select max(w) from u)",
        "create or replace temporary function deep(x int) returns int return x + most()",
        "create or replace temporary function rows_of_u() returns table (id int, w int) return select id, w from u",
        "create or replace temporary function of_framed() returns int return (select max(id) from framed)",
        "create or replace temporary function plus_one(x int) returns int return x + 1",
        "create or replace temporary view numbers as select id from range(3)",
    )
    location = bad.session.sql("describe detail u").first()["location"]
    for query, named in (
        ("select * from identifier('query_bad.u')", r"table spark_catalog\.query_bad\.u"),
        ("select t.id from t join identifier('u') x using (id)", r"table spark_catalog\.query_bad\.u"),
        (f"select * from identifier('delta.`{location}`')", f"table {location}"),
        ("select * from identifier('plain')", r"table spark_catalog\.query_bad\.plain"),
        ("select id, most() m from t", r"table spark_catalog\.query_bad\.u"),
        ("select id from t where exists (select 1 from u where u.w = deep(t.v))", r"table spark_catalog\.query_bad\.u"),
        ("select t.id, x.w from t join rows_of_u() x on x.id = t.id", r"table spark_catalog\.query_bad\.u"),
        ("select id, of_framed() m from t", "what is no table"),
    ):
        with pytest.raises(UnsupportedQuery, match=f"the query reads {named}.* without naming it in FROM.*Write the"):
            of(bad, query)
    for query in (
        "select id, plus_one(v) w from t where id in (select max(id) from t x)",
        "with c as (select id from t) select a.id, n.id m from c a join numbers n on a.id = n.id join (values (1)) x (k) on x.k = n.id",
    ):
        assert of(bad, query) is not None


def test_texts_that_are_times(bad: History) -> None:
    """'now' and the like where Spark makes a time of them; texts they are where a text is wanted."""
    bad.table("timed_texts", "id int, at timestamp, day date, n timestamp_ntz, name string")
    bad.tables.remove("timed_texts")
    start = {"query_bad.t": 0, "query_bad.timed_texts": 0}
    bad.run("create view of_today as select id from timed_texts where day = 'today'")
    for condition in (
        "at < timestamp'now'", "day = date' Today '", "n < timestamp_ntz'now'", "at < cast('now' as timestamp)", "at < 'now'::timestamp",
        "at < try_cast('tomorrow' as timestamp)", "at < 'now'", "at between 'yesterday' and 'TODAY UTC'", "day in ('2026-01-01', 'today')",
        "to_date('yesterday') < day", "at < to_timestamp('now')", "at < date('today')", "ifnull(at, 'now') > day", "n > lower('NOW')",
        "exists (select 1 from t where t.id = timed_texts.id and timed_texts.at < 'now')", "id in (select id from of_today)",
        "date_diff('today', day) > 1", "at < r'now'",
    ):  # fmt: skip
        with pytest.raises(
            UnsupportedQuery, match=r"as a time is another one each time it is asked.*Write current_timestamp\(\)"
        ):
            changes(bad.session, f"select id from timed_texts where {condition}", start)
    for condition in (
        "name = 'now'", "name in ('today', 'x') and at < timestamp'2026-01-01'", "name like 'now' or concat(name, 'now') = 'today'",
        "case when id = 1 then 'now' else 'today' end = name", "at > timestamp'epoch' and day > 'epoch'", "name = 'nowhere' and day < '2026-01-01'",
    ):  # fmt: skip
        changes(bad.session, f"select id from timed_texts where {condition}", start)


def test_variables_of_the_session(bad: History) -> None:
    bad.run("declare or replace variable least int default 0")
    try:
        for query in (
            "select id from t where v > least",
            "select id from t where exists (select 1 from u where u.id = t.id and w > system.session.least)",
            f"select {', '.join(f'id as c{number}' for number in range(40))}, least as c from t",
        ):
            with pytest.raises(
                UnsupportedQuery, match=r"variable .*least may have another value each time.*Write its value"
            ):
                of(bad, query)
        assert of(bad, "select id, least(v, 2) as least from t") is not None
    finally:
        bad.run("drop temporary variable least")


def test_a_function_that_spark_knows_as_not_deterministic(bad: History) -> None:
    from pyspark.sql.functions import udf

    bad.session.udf.register("dice_udf", udf(lambda v: v, "int").asNondeterministic())
    with pytest.raises(
        UnsupportedQuery, match=r"dice_udf\(\) is a user-defined function that Spark knows as non-deterministic"
    ):
        of(bad, "select dice_udf(id) x from t")


@pytest.mark.parametrize(
    ("body", "query", "message"),
    [
        ("x + rand()", "select id, moved(v) as m from t", "that Spark knows as non-deterministic"),
        ("x + rand()", "select id from t where exists (select 1 from u where moved(w) > t.v)", "that Spark knows"),
        ("x + day(current_date())", "select id, moved(v) as m from t", "that tells the time"),
        ("x + unix_timestamp()", "select id, now() as at from t where moved(v) > 1", "that tells the time"),
        (
            "x + unix_timestamp()",
            "select moved(id) as m from t pivot (count(v) for v in (1, 2))",
            "that tells the time",
        ),
    ],
)
@pytest.mark.parametrize("kept", ["temporary function moved", "function bad_input_moved"])
def test_what_a_function_of_sql_does(bad: History, body: str, query: str, message: str, kept: str) -> None:
    name = kept.rpartition(" ")[2]
    bad.run(f"create {kept}(x int) returns double return {body}")
    try:
        with pytest.raises(UnsupportedQuery, match=rf"{name}\(\) is a user-defined function {message}"):
            of(bad, query.replace("moved", name))
    finally:
        bad.run(f"drop {kept}")


def test_what_moves_in_a_query_beside_a_function_does_not_concern_that(bad: History) -> None:
    bad.run("create temporary function doubled(x int) returns int return 2 * x")
    try:
        for query in (
            "select doubled(id) as d, now() as at from t",
            "select id, first(doubled(v)) as f from t group by id",
        ):
            assert of(bad, query) is not None
    finally:
        bad.run("drop temporary function doubled")


@pytest.mark.parametrize(
    ("query", "operator"),
    [
        ("select count(*) n from t", "a GROUP BY, DISTINCT or aggregate"),
        ("select distinct id from t", "a GROUP BY, DISTINCT or aggregate"),
        ("select t.id from t left join u on t.id = u.id", "an outer join, at line 1: LEFT JOIN"),
        ("select * from t where id not in (select id from u)", "an EXISTS, IN, semi or anti join, at line 1: id IN"),
        ("select * from t order by id limit 1", "an ORDER BY with LIMIT"),
        (
            "select id, row_number() over (partition by v order by id) r from t",
            r"a window function, at line 1: ROW_NUMBER\(\)",
        ),
        ("select id from t except all select id from u", "a GROUP BY, DISTINCT or aggregate"),
        ("select * from t pivot (sum(v) for id in (1, 2))", "PIVOT"),
    ],
)
def test_append_only_of_what_is_not_monotone(bad: History, query: str, operator: str) -> None:
    with pytest.raises(
        UnsupportedQuery,
        match=f"format append_only takes queries whose rows only ever come.*({operator}).*Use format min_delta",
    ):
        of(bad, query, format="append_only")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select *\nfrom t\npivot (sum(v) for id in (1, 2))", r"there is no rule for PIVOT, at (line \d: )?.*PIVOT.*In mode auto that part is computed"),
        (RECURSIVE, "a recursive WITH, at line 1: WITH RECURSIVE"),
        ("select id, sum(v) over (order by id) s from t", "a window function without a PARTITION BY"),
        ("select t.id from t left join u on t.id > u.id", r"an outer join without an equality between its sides, at line 1: LEFT JOIN"),
        ("select t.id, x.n from t, lateral (select count(*) n from u where u.id = t.id) x", "LATERAL"),
        ("select id from t where exists (select 1 from u where u.id > t.id)", "EXISTS or IN without an equality between its sides, at line 1"),
        ("select id from t where id = 2 or id in (select id from u)", "a subquery in this place, at line 1"),
        ("select v, exists (select count(*) from u where u.id = t.id) x from t", "a correlated subquery with groups, at line 1"),
        ("select v, (select max(w) from u where u.id < t.id) m from t", "a subquery correlated by something else than an equality, at "),
        ("select v, (select max(w) from u where cast(u.id as string) = t.id) m from t", "a subquery correlated by values of two types"),
        ("select id, stack(2, v, 1) as y from t", "a generator in this place, at line 1"),
        ("select id, x.y from t lateral view inline(array(struct(v))) x as y", "a generator other than explode and posexplode, at line 1"),
        ("select id, rank() over (partition by v order by sum(id) over (partition by v)) r from t", "a window inside a window, at "),
        ("select distinct id from t order by id + 1 limit 1", "ORDER BY of what SELECT DISTINCT does not select, at "),
        ("select id from t union all select id from u order by id + 1 limit 1", "ORDER BY of an expression over a set operation"),
    ],
)  # fmt: skip
def test_strict_names_operator_and_place(bad: History, query: str, message: str) -> None:
    with pytest.raises(UnsupportedQuery, match=f"mode strict: .*{message}"):
        of(bad, query, mode="strict")
    assert of(bad, query) is not None  # mode auto answers


class TestIntervals:
    def test_ends_before_it_starts(self, bad: History) -> None:
        with pytest.raises(InvalidInterval, match=r"table .*t: the interval ends \(1\) before it starts \(2\)"):
            changes(bad.session, "select * from t", 2, 1)
        with pytest.raises(InvalidInterval, match=r"table .*u: the interval ends \(1\) before it starts \(2\)"):
            changes(bad.session, "select t.id from t join u using (id)", bad.points[2], bad.points[1])

    @pytest.mark.parametrize("version", [99, -1])
    def test_versions_that_do_not_exist(self, bad: History, version: int) -> None:
        with pytest.raises(InvalidInterval, match=f"has no version {version}: it has versions 0 to 2"):
            changes(bad.session, "t", version)
        with pytest.raises(InvalidInterval, match=f"has no version {version}: it has versions 0 to 2"):
            changes(bad.session, "t", 0, version)

    def test_one_version_for_two_tables(self, bad: History) -> None:
        with pytest.raises(
            InvalidInterval,
            match=r"version 1 means nothing for a query on several tables \(.*t, .*u\): give a version for each",
        ):
            changes(bad.session, "select t.id from t join u using (id)", 1)

    def test_a_mapping_that_leaves_a_table_out(self, bad: History) -> None:
        with pytest.raises(
            InvalidInterval,
            match=r"no version is given for table .*u, which the query reads; given are those of query_bad\.t",
        ):
            changes(bad.session, "select t.id from t join u using (id)", {"query_bad.t": 1})

    @pytest.mark.parametrize(
        ("moment", "message"),
        [("soon", "'soon' is no time"), ("2999-01-01", "has not come yet"), ("2001-01-01", "the log of table .*t begins after 2001-01-01"), (1.5, r"1\.5 is no point in the history")],
    )  # fmt: skip
    def test_moments(self, bad: History, moment: Any, message: str) -> None:
        with pytest.raises(InvalidInterval, match=message):
            changes(bad.session, "t", moment)

    @pytest.fixture(scope="class")
    def timed(self, bad: History) -> History:
        """Versions 1 to 3 of table `timed` are of noon of the first days of 2026."""
        bad.table("timed", "id int")
        bad.tables.remove("timed")
        for day in (1, 2, 3):
            bad.run(f"insert into timed values ({day})")
        for version in range(4):
            set_time(bad, "timed", version, f"2026-01-0{version or 1}T{12 if version else 1:02}:00:00")
        return bad

    @pytest.mark.parametrize(
        ("start", "end", "ids"),
        [
            ("2026-01-01 12:00:00", "2026-01-02 12:00:00", [2]),
            ("2026-01-01 11:59:59.999", "2026-01-02", [1]),
            ("2026-01-01T13:00:00+01:00", None, [2, 3]),
            (datetime(2026, 1, 2, 12, tzinfo=timezone.utc), datetime(2026, 1, 4), [3]),
            (datetime(2026, 1, 2, 11), 2, [2]),
            ({"timed": "2026-01-01 12:00:00"}, {"query_bad.timed": 2}, [2]),
        ],
    )
    def test_points_are_times_too(self, timed: History, start: Any, end: Any, ids: list[int]) -> None:
        assert sorted(row["id"] for row in changes(timed.session, "timed", start, end).collect()) == ids
        counted = changes(timed.session, "select id, count(*) n from timed group by id", start, end)
        assert sorted(row["id"] for row in counted.collect()) == ids

    def test_points_are_frontiers(self, timed: History) -> None:
        """Also one that was stored, and holds more tables than the query reads."""
        query = ChangeQuery(timed.session, "select timed.id from timed left join t using (id)")
        start, end = query.frontier({"timed": 1, "t": 1}), query.frontier(None)
        assert isinstance(start, Frontier)
        found = changes(timed.session, "timed", start, Frontier.from_json(end.to_json()))
        assert sorted(row["id"] for row in found.collect()) == [2, 3]
        with pytest.raises(InvalidInterval, match=r"the frontier holds no version of table query_bad\.u, only of"):
            changes(timed.session, "u", start, end)

    def test_cleaned_away(self, bad: History) -> None:
        bad.table("old", "id int")
        bad.tables.remove("old")
        bad.run("alter table old set tblproperties ('delta.checkpointInterval' = '2')")
        for number in range(4):
            bad.run(f"insert into old values ({number})")
        location = bad.session.sql("describe detail old").first()["location"]
        for version in (0, 1, 2):
            Path(location.removeprefix("file:"), "_delta_log", f"{version:020d}.json").unlink()
        with pytest.raises(
            StaleSource, match=r"table .*old: version 1 is no longer in its log \(the oldest commit there is 3\)"
        ):
            changes(bad.session, "select id, count(*) n from old group by id", 1)

    def test_without_row_tracking(self, bad: History) -> None:
        with pytest.raises(BrokenSource, match=r"table .*untracked: row tracking \(delta\.enableRowTracking\) is off"):
            changes(bad.session, "select count(*) n from untracked", 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "full"}, "format.*full.*append_only, min_delta, redo_log"),
        ({"mode": "lenient"}, "mode.*lenient.*auto, strict"),
        ({"metadata_columns": "oracle"}, "metadata_columns.*oracle.*delta, singdata, snowflake"),
    ],
)
def test_unknown_options(bad: History, options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidStreamConfig, match=message):
        of(bad, "select * from t", **options)
