"""Traps that other engines fell into, each by itself, the changes written out."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes import changes, explain
from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.changes import read_changes
from tests.spark.jobs import jobs_of
from tests.spark.queries.history import History
from tests.spark.queries.oracle import Ledger, of_rows, read
from tests.spark.queries.traps import check_ledger, of


class TestOneTable:
    def test_no_op_updates_are_no_change(self, history: History) -> None:
        history.table("t", "k int, v double")
        history.run("insert into t values (1, double('NaN')), (null, null), (2, 0.0)")
        history.marked(["update t set v = v", "update t set k = 2 where k = 2"])
        assert of(history, "select * from t") == []
        assert of(history, "select k, sum(v) s from t group by k") == []
        assert of(history, "select a.k, b.v from t a left join t b on a.k = b.k") == []

    def test_update_coercion_through_a_filter(self, history: History) -> None:
        history.table("t", "k int, v int")
        history.run("insert into t values (1, 1), (2, 20), (3, 30)")
        history.marked(["update t set v = 21 - v where k < 3", "update t set v = 31 where k = 3"])
        assert of(history, "select * from t where v > 10") == [
            ("delete", 2, 20), ("insert", 1, 20), ("update_postimage", 3, 31), ("update_preimage", 3, 30),
        ]  # fmt: skip
        assert of(history, "select k from t") == []

    def test_null_group_keys(self, history: History) -> None:
        history.table("t", "k int, v int")
        history.run("insert into t values (null, 1), (null, 2), (1, 5)")
        history.marked(["update t set k = 1 where v = 2"], ["delete from t where k is null"])
        query = "select k, sum(v) s from t group by k"
        assert of(history, query) == [
            ("update_postimage", 1, 7), ("update_postimage", None, 1),
            ("update_preimage", 1, 5), ("update_preimage", None, 3),
        ]  # fmt: skip
        assert of(history, query, 1, 2) == [("delete", None, 1)]
        check_ledger(history, "select k, v, count(*) n from t group by k, v", [0, 1, 2])

    def test_a_group_that_becomes_empty_and_comes_back(self, history: History) -> None:
        history.table("t", "k string, v int")
        history.run("insert into t values ('a', 1), ('b', 2)")
        history.marked(["delete from t where k = 'a'"], ["insert into t values ('a', 1)"])
        query = "select k, count(*) n from t group by k"
        assert of(history, query) == [("delete", "a", 1)]
        assert of(history, query, 1, 2) == [("insert", "a", 1)]
        assert of(history, query, 0, 2) == []

    def test_no_group_by_has_one_row_always(self, history: History) -> None:
        history.table("t", "v int")
        history.marked(["insert into t values (1), (2)"], ["delete from t where true"])
        query = "select count(*) n, sum(v) s from t"
        assert of(history, query) == [("update_postimage", 2, 3), ("update_preimage", 0, None)]
        assert of(history, query, 1, 2) == [("update_postimage", 0, None), ("update_preimage", 2, 3)]
        assert of(history, query, 0, 2) == []

    def test_sums_of_cases_and_averages_of_nulls(self, history: History) -> None:
        history.table("t", "k int, v int")
        history.run("insert into t values (1, null), (1, null), (2, 4)")
        history.marked(["update t set v = null where k = 2", "update t set v = 3 where k = 1"])
        assert of(history, "select k, avg(v) a, sum(case when v > 3 then v end) s from t group by k") == [
            ("update_postimage", 1, 3.0, None), ("update_postimage", 2, None, None),
            ("update_preimage", 1, None, None), ("update_preimage", 2, 4.0, 4),
        ]  # fmt: skip

    def test_float_sums_do_not_drift(self, history: History) -> None:
        history.table("t", "k int, v double")
        history.run("insert into t values (1, 0.1)")
        history.marked(["insert into t values (1, 1e17)"], ["delete from t where v > 1"])
        assert of(history, "select k, sum(v) s from t group by k", 1, 2)[0] == ("update_postimage", 1, 0.1)

    def test_delete_and_reinsert_of_equal_values(self, history: History) -> None:
        """The row is another one; what does not look at rows has not changed."""
        history.table("t", "k int, v int")
        history.run("insert into t values (1, 1), (2, 2)")
        history.marked(["delete from t where k = 1", "insert into t values (1, 1)"])
        assert of(history, "select * from t") == [("delete", 1, 1), ("insert", 1, 1)]
        for query in (
            "select distinct v from t",
            "select k, sum(v) s from t group by k",
            "select k from t union select v from t",
        ):
            assert of(history, query) == []

    def test_insert_and_delete_inside_the_interval(self, history: History) -> None:
        history.table("t", "k int")
        history.run("insert into t values (1)")
        history.marked(["insert into t values (2)", "update t set k = 3 where k = 2", "delete from t where k = 3"])
        for query in ("select * from t", "select a.k, b.k bk from t a, t b", "select count(*) n from t"):
            assert of(history, query) == []

    def test_restore(self, history: History) -> None:
        history.table("t", "k int, v int")
        history.run("insert into t values (1, 1), (2, 2)")
        history.marked(
            ["delete from t where k = 1", "update t set v = 5 where k = 2"],
            ["restore table t to version as of 1"],
            ["restore table t to version as of 3"],
        )
        for query in (
            "select * from t",
            "select v, count(*) n from t group by v",
            "select a.k, b.v from t a join t b on a.k = b.k",
        ):
            check_ledger(history, query, [0, 1, 2, 3])
            assert of(history, query, 0, 2) == []

    def test_optimize_is_no_change_and_no_job(self, spark: SparkSession, history: History) -> None:
        history.table("t", "k int, v int")
        history.run("insert into t values (1, 1), (3, 3)", "insert into t values (2, 2)", "delete from t where k = 1")
        history.marked(["optimize t", "reorg table t apply (purge)"])
        start, end = history.points
        assert start != end
        for query in (
            "select * from t",
            "select k, count(*) n from t group by k",
            "select a.k from t a left join t b on a.k = b.v",
        ):
            with jobs_of(spark) as jobs:
                assert changes(history.session, query, start, end).collect() == []
            assert jobs.count == 0

    def test_create_or_replace_gives_every_row_a_new_id(self, history: History) -> None:
        history.table("t", "k int, v int")
        history.run("insert into t values (1, 1), (2, 2)")
        tracked = "using delta tblproperties ('delta.enableRowTracking' = 'true')"
        history.marked([f"create or replace table t {tracked} as select 1 as k, 1 as v"])
        assert of(history, "select * from t") == [("delete", 1, 1), ("delete", 2, 2), ("insert", 1, 1)]
        assert of(history, "select k, v, count(*) n from t group by k, v") == [("delete", 2, 2, 1)]

    def test_duplicates_are_rows_of_their_own(self, history: History) -> None:
        history.table("t", "k int")
        history.run("insert into t values (1), (1), (1)")
        history.marked(["insert into t values (1)"], ["delete from t where true", "insert into t values (1)"])
        for query in (
            "select k from t", "select k from t union all select k from t", "select a.k from t a, t b",
            "select a.k from t a left join t b on a.k = b.k", "select k from t intersect all select k from t",
            "select k from t except all select 1", "select k, row_number() over (partition by k order by k) rn from t",
        ):  # fmt: skip
            check_ledger(history, query, [0, 1, 2])

    def test_windows_of_two_partitions(self, history: History) -> None:
        """A change in one partition of the wider window shows in every narrower one inside it."""
        history.table("t", "id int, a int, b int, v int")
        history.run("insert into t values (1, 1, 1, 1), (2, 1, 2, 2), (3, 2, 1, 3), (4, null, 1, 4)")
        history.marked(["update t set v = 10 where id = 1"], ["update t set a = 2 where id = 2"])
        both = "select id, sum(v) over (partition by a) s, sum(v) over (partition by a, b) p from t"
        assert [change for change in of(history, both) if change[0] == "update_postimage"] == [
            ("update_postimage", 1, 12, 10), ("update_postimage", 2, 12, 2),
        ]  # fmt: skip
        check_ledger(history, both, [0, 1, 2])
        check_ledger(history, "select id, row_number() over (partition by a order by v, id) n from t", [0, 1, 2])

    def test_ties_in_windows(self, history: History) -> None:
        """Which of the equals comes first is the same at both ends: who went is no longer picked. Spark, over so few
        rows, takes them as they come, as ids do."""
        history.table("t", "id int, k int, o int, v string")
        history.run(
            "insert into t select /*+ coalesce(1) */ * from values (1, 1, 1, null), (2, 1, 1, 'Y'), (3, 1, 1, 'X'), "
            "(4, 1, 2, 'Z'), (5, 1, 2, 'A'), (6, 2, 1, 'B') as a (id, k, o, v)"
        )
        history.marked(
            ["delete from t where id = 1"], ["delete from t where id in (2, 5)"], ["delete from t where k = 2"]
        )
        frames = ("order by o", "order by o desc", "order by o range between 1 preceding and current row")
        picks = ("first_value(v)", "first(v, true)", "last_value(v)", "last(v) ignore nulls", "any_value(v)")
        windows = [
            *(f"{pick} over (partition by k {frame})" for frame in frames for pick in picks),
            *(f"nth_value(v, {n}) over (partition by k {frame})" for frame in frames[:2] for n in (1, 2)),
            "first_value(v) over (partition by k order by o rows between unbounded preceding and 1 following)",
        ]
        for some in (windows, [f"{pick} over (partition by k)" for pick in picks]):
            query = f"select id, {', '.join(f'{window} as c{number}' for number, window in enumerate(some))} from t"
            assert explain(history.session, query, history.points[0]).fallbacks == ()
            check_ledger(history, query, [0, 1, 2, 3])
        by_value = "select id, max_by(v, k) over (partition by k) a, min_by(v, o) over (partition by k) i from t"
        assert {change[0] for change in of_rows_alike(history, by_value, 0, 2)} == {1, 2, 3, 4, 5}

    def test_groups_of_nulls_in_one_column_or_the_other(self, history: History) -> None:
        history.table("t", "a string, b string")
        history.run("insert into t values ('x', null), (null, 'x'), (null, null), ('', null)")
        history.marked(["insert into t values ('x', null), (null, 'x'), ('', '')"], ["delete from t where a is null"])
        check_ledger(history, "select a, b, count(*) n from t group by a, b", [0, 1, 2])
        check_ledger(history, "select distinct a, b from t", [0, 1, 2])

    def test_truncate_and_overwrite(self, history: History) -> None:
        history.table("t", "k int, v int")
        history.run("insert into t values (1, 1), (2, 2)")
        history.marked(["truncate table t"], ["insert overwrite t values (1, 1), (3, 3)"])
        for query in (
            "select * from t",
            "select k, max(v) m from t group by k",
            "select * from t where k not in (select v + 1 from t)",
        ):
            check_ledger(history, query, [0, 1, 2])

    def test_times_that_differ_by_microseconds_are_groups_of_their_own(self, history: History) -> None:
        history.table("t", "at timestamp, n timestamp_ntz, v int")
        row = "(timestamp'2026-01-01 00:00:00.00000{0}', timestamp_ntz'2026-01-01 00:00:00.00000{0}', {0})"
        history.run(f"insert into t values {row.format(1)}, {row.format(2)}")
        history.marked([f"insert into t values {row.format(1)}, {row.format(3)}"])
        for column in ("at", "n"):
            assert [change[0] for change in of(history, f"select {column}, count(*) c from t group by {column}")] == [
                "insert", "update_postimage", "update_preimage",
            ]  # fmt: skip


def of_rows_alike(history: History, query: str, start: int, end: int) -> list[tuple[Any, ...]]:
    """The changes, which make of all rows at the start, as changes tell them, all rows at the end."""
    asked = ChangeQuery(history.session, query)
    before, after = (asked.frontier(history.points[point]) for point in (start, end))
    ledger, fresh = Ledger(), Ledger()
    ledger.apply(read(read_changes(asked.interval(None, before))))
    fresh.apply(read(read_changes(asked.interval(None, after))))
    rows = read_changes(asked.interval(before, after)).collect()
    ledger.apply(of_rows(rows))
    assert ledger.rows == fresh.rows
    return [tuple(row) for row in rows]


def half_filled_pair(history: History) -> History:
    history.table("l", "id int, k int, v string")
    history.table("r", "id int, k int, w string")
    history.run("insert into l values (1, 1, 'a'), (2, 2, 'b'), (3, null, 'c')")
    return history


def filled_pair(history: History) -> History:
    half_filled_pair(history).run("insert into r values (1, 1, 'x'), (2, 3, 'y'), (3, null, 'z')")
    return history


def with_nulls(history: History) -> None:
    """Nulls on either side, a right side that gets empty, and a null that comes and goes: the answer of a NOT IN for rows
    of every key may turn."""
    half_filled_pair(history).marked(
        ["insert into r values (1, 1, 'x')"],
        ["insert into r values (2, null, 'y')"],
        ["insert into l values (4, 4, 'd'), (5, null, 'e')", "update r set k = 2 where id = 1"],
        ["delete from r where k is null"],
        ["update l set k = 7 where id = 3", "update l set k = null where id = 1"],
        ["delete from r where true"],
    )


class TestTwoTables:
    @pytest.fixture
    def pair(self, history: History) -> History:
        return filled_pair(history)

    def test_both_sides_of_a_left_join_change(self, pair: History) -> None:
        pair.marked(["update l set k = 3 where id = 1", "update r set k = 2 where id = 1"])
        assert of(pair, "select l.id, r.w from l left join r on l.k = r.k") == [
            ("delete", 1, "x"), ("delete", 2, None), ("insert", 1, "y"), ("insert", 2, "x"),
        ]  # fmt: skip

    def test_a_preserved_row_loses_and_finds_its_match(self, pair: History) -> None:
        pair.marked(
            ["delete from r where id = 1"],
            ["insert into r values (4, 1, 'x')"],
            ["update l set v = 'new' where id = 1", "delete from r where id = 4"],
        )
        for kind in ("left", "full"):
            query = f"select l.id, l.v, r.w from l {kind} join r on l.k = r.k"
            assert of(pair, query) == [("delete", 1, "a", "x"), ("insert", 1, "a", None)]
            assert of(pair, query, 0, 2) == [("delete", 1, "a", "x"), ("insert", 1, "a", "x")]  # another row of r
            check_ledger(pair, query, [0, 1, 2, 3])

    def test_key_and_value_change_in_one_row(self, pair: History) -> None:
        pair.marked(["update r set k = 2, w = 'X' where id = 1"])
        assert of(pair, "select l.id, r.w from l join r on l.k = r.k") == [("delete", 1, "x"), ("insert", 2, "X")]
        assert of(pair, "select l.id, r.w from l join r on l.k = r.k where w <> 'X'") == [("delete", 1, "x")]

    def test_no_phantom_when_both_matching_rows_go(self, pair: History) -> None:
        pair.marked(["delete from l where id = 1", "delete from r where id = 1"])
        assert of(pair, "select l.id, r.w from l join r on l.k = r.k") == [("delete", 1, "x")]
        assert of(pair, "select l.id, r.w from l full join r on l.k = r.k") == [("delete", 1, "x")]

    def test_no_phantom_when_both_rows_come(self, pair: History) -> None:
        pair.marked(
            ["insert into l values (9, 9, 'n')", "insert into r values (9, 9, 'n')"],
            ["update l set v = 'm' where id = 9", "update r set w = 'm' where id = 9"],
        )
        query = "select l.id, l.v, r.w from l join r on l.k = r.k"
        assert of(pair, query) == [("insert", 9, "n", "n")]
        assert of(pair, query, 1, 2) == [("update_postimage", 9, "m", "m"), ("update_preimage", 9, "n", "n")]

    def test_null_keys_join_nothing_but_are_preserved(self, pair: History) -> None:
        pair.marked(
            ["update l set v = 'C' where k is null", "update r set w = 'Z' where k is null"],
            ["update l set k = 3 where k is null"],
        )
        for query in (
            "select l.v, r.w from l left join r on l.k = r.k", "select l.v, r.w from l right join r on l.k = r.k",
            "select l.v, r.w from l full join r on l.k = r.k", "select l.v, r.w from l full join r on l.k <=> r.k",
            "select l.v from l left anti join r on l.k = r.k", "select l.v from l where exists (select 1 from r where r.k <=> l.k)",
        ):  # fmt: skip
            check_ledger(pair, query, [0, 1, 2])

    @pytest.mark.usefixtures("held")
    def test_not_in_with_nulls(self, history: History) -> None:
        with_nulls(history)
        for condition in (
            "l.k not in (select k from r)",
            "l.k not in (select k from r where r.w <> l.v)",
            "l.k not in (select k from r where r.id = l.id)",
            "l.id not in (select id from r where r.k <=> l.k and r.w <> l.v)",
            "(l.k, l.id) not in (select k, id from r)",
            "l.k not in (select cast(k as string) from r)",
        ):
            check_ledger(history, f"select * from l where {condition}", list(range(7)))

    def test_changing_what_a_subquery_gives(self, pair: History) -> None:
        pair.marked(
            ["update r set k = k + 1 where k is not null"],
            ["delete from r where true"],
            ["insert into r values (1, 5, 'v')"],
        )
        for query in (
            "select id from l where k < (select max(k) from r)", "select id, (select count(*) from r where r.k = l.k) n from l",
            "select id, (select max(w) from r where r.k = l.k) m from l", "select id, (select count(*) from r) n from l",
            "select id from l where id = 1 or exists (select 1 from r where r.k = l.k)",
        ):  # fmt: skip
            check_ledger(pair, query, [0, 1, 2, 3])

    def test_a_table_united_and_joined_with_itself(self, pair: History) -> None:
        pair.marked(["update l set v = 'q', k = 2 where id = 1"], ["delete from l where id = 1"])
        for query in (
            "select id, v from l union all select id, v from l", "select a.v, b.v bv from l a join l b on a.k = b.k",
            "select a.v, b.v bv, c.v cv from l a, l b, l c where a.k = b.id and b.k = c.id",
            "select a.id, b.id bid from l a full join l b on a.k = b.id",
            "select * from l where id in (select k from l)", "select v from l except all select v from l where k = 2",
        ):  # fmt: skip
            check_ledger(pair, query, [0, 1, 2])


class TestTimeAndFunctions:
    def test_clocks_are_bound_to_each_end(self, history: History) -> None:
        """Only the other table changed: the rows go out of date all the same."""
        history.table("t", "k int, at timestamp")
        history.table("other", "k int")
        history.run(
            "insert into t values (1, timestamp'2026-01-01 12:00:00'), (2, timestamp'2026-01-02 12:00:00'), (3, timestamp'2026-01-03 12:00:00')"
        )
        history.mark()
        history.run("insert into other values (9)")
        history.mark()
        times = (("t", 0, "01"), ("t", 1, "02"), ("other", 0, "01"), ("other", 1, "03"))
        for name, version, day in times:
            set_time(history, name, version, f"2026-01-{day}T00:00:00")
        both = "from t left join other on t.k = other.k"
        expected = [("insert", 2)]
        for condition in (
            "at <= current_timestamp()",
            "at < now()",
            "cast(at as date) < current_date()",
            "cast(at as date) < current_date",
            "unix_timestamp(at) < unix_timestamp()",
        ):
            assert of_clock(history, f"select t.k {both} where {condition}") == expected
        assert of_clock(history, f"select max(t.k) m {both} where at <= current_timestamp()") == [
            ("update_postimage", 2),
            ("update_preimage", 1),
        ]
        assert of_clock(history, f"select t.k {both} where at <= timestamp'2026-01-02 00:00:00'") == []
        assert of_clock(history, f"select current_date() d, count(*) n {both}") == [
            ("update_postimage", datetime(2026, 1, 3).date(), 3), ("update_preimage", datetime(2026, 1, 2).date(), 3),
        ]  # fmt: skip

    def test_a_clock_that_stands_still(self, history: History) -> None:
        """The newest commit is that of a table which does not change: one time at both ends, and rules as ever."""
        history.table("t", "k int, at timestamp")
        history.table("other", "k int")
        history.run("insert into t values (1, timestamp'2026-01-01 12:00:00')", "insert into other values (1)")
        history.mark()
        history.run("insert into t values (2, timestamp'2026-01-02 12:00:00')")
        history.mark()
        for name, version, day in (("t", 1, "01"), ("other", 1, "05"), ("t", 2, "03")):
            set_time(history, name, version, f"2026-01-{day}T00:00:00")
        both = "from t left join other on t.k = other.k"
        age = "date_diff(current_date(), cast(at as date))"
        assert of_clock(history, f"select {age} d, count(*) n {both} group by 1") == [("insert", 3, 1)]
        assert of_clock(history, f"select t.k {both} where at < now()") == [("insert", 2)]
        assert of_clock(history, f"select t.k {both} and t.at < now()") == [("insert", 2)]
        assert of_clock(history, f"select t.k, count(*) over (partition by {age}) n {both}") == [("insert", 2, 1)]

    def test_a_clock_in_inserts_only(self, history: History) -> None:
        history.table("t", "k int, at timestamp")
        history.marked(
            ["insert into t values (1, timestamp'2026-01-01 12:00:00'), (2, timestamp'2999-01-01 12:00:00')"]
        )
        query = "select k, current_date() > cast(at as date) as past from t where at < now() + interval '1' hour"
        found = changes(history.session, query, history.points[0], format="append_only")
        assert [tuple(row)[:2] for row in found.collect()] == [(1, True)]

    def test_user_functions_of_sql_and_python(self, history: History) -> None:
        history.table("t", "k int, v int")
        history.run("insert into t values (1, 1), (2, 2)")
        history.marked(["update t set v = 5 where k = 1"])
        history.session.udf.register("twice", lambda v: v * 2, "int")
        history.run("create temporary function thrice (v int) returns int return v * 3")
        expected = [("update_postimage", 10, 15), ("update_preimage", 2, 3)]
        found = changes(history.session, "select twice(v) a, thrice(v) b from t", history.points[0], history.points[1])
        assert sorted((row[2], row[0], row[1]) for row in found.collect()) == expected


def set_time(history: History, table: str, version: int, moment: str) -> None:
    location = history.session.sql(f"describe detail {table}").first()["location"]
    seconds = datetime.fromisoformat(moment).replace(tzinfo=timezone.utc).timestamp()
    os.utime(Path(location.removeprefix("file:"), "_delta_log", f"{version:020d}.json"), (seconds, seconds))


def of_clock(history: History, query: str) -> list[tuple[Any, ...]]:
    frame = changes(history.session, query, history.points[0], history.points[1])
    return sorted((row[-4], *row[:-4]) for row in frame.collect())
