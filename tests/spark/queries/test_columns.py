"""Columns that come, go and change inside an interval, and names that need quotes."""

from __future__ import annotations

from functools import partial

import pytest

from dbt.adapters.streamspark.changes import changes
from dbt.adapters.streamspark.changes.session_confs import session_confs
from dbt.adapters.streamspark.errors import UnsupportedQuery
from tests.consuming import newest
from tests.spark.queries.history import FAST, TRACKED, History, session_with
from tests.spark.queries.oracle import apply_to_bag, bag, check_interval, read


class TestColumns:
    def test_a_column_added_in_the_interval(self, history: History) -> None:
        history.table("t", "k int, v int")
        history.run("insert into t values (1, 1), (2, 2)")
        history.marked(["alter table t add column (n string)", "update t set n = 'x' where k = 1"])
        found = changes(history.session, "select * from t", history.points[0], history.points[1])
        assert sorted(tuple(row)[3::-1] for row in found.collect()) == [
            ("update_postimage", "x", 1, 1),
            ("update_preimage", None, 1, 1),
        ]
        grouped = changes(
            history.session, "select n, count(*) c from t group by n", history.points[0], history.points[1]
        )
        assert sorted((row[2], row[0], row[1]) for row in grouped.collect() if row[0]) == [("insert", "x", 1)]

    def test_a_column_renamed_in_the_interval(self, history: History) -> None:
        history.run(
            "create table t (k int, v int) using delta tblproperties ('delta.enableRowTracking' = 'true', 'delta.columnMapping.mode' = 'name')"
        )
        history.tables.append("t")
        history.run("insert into t values (1, 1), (2, 2)")
        history.marked(["alter table t rename column v to w", "update t set w = 3 where k = 1"])
        found = changes(history.session, "select w, count(*) c from t group by w", history.points[0], history.points[1])
        assert sorted((row["_change_type"], row["w"]) for row in found.collect()) == [("delete", 1), ("insert", 3)]

    def test_fields_with_odd_names(self, history: History) -> None:
        odd = "struct<`a b`: int, `select`: array<struct<`x``y`: int>>>"
        history.table("t", "id int, k int")
        history.run(
            "alter table t set tblproperties ('delta.columnMapping.mode' = 'name')",
            f"alter table t add column (s {odd})",
        )
        history.run(f"insert into t select 1, 1, cast(struct(1, array(struct(2))) as {odd})")
        history.marked(
            [
                f"insert into t select 2, 1, cast(struct(3, array(struct(4))) as {odd})",
                "update t set k = 2 where id = 1",
            ]
        )
        for query in (
            "select id, s from t union all select k, s from t", "select s, count(*) n from t group by s",
            "select id, s.`a b` x, y.`x``y` z from t lateral view explode(s.`select`) e as y",
        ):  # fmt: skip
            check_interval(history, query, 0, 1)

    def test_columns_with_odd_names(self, history: History) -> None:
        history.run(
            "create table t (`a b` int, `select` int, `x``y` int, `ü` int, `__id` int, `c1` int) using delta "
            "tblproperties ('delta.enableRowTracking' = 'true', 'delta.columnMapping.mode' = 'name')"
        )
        history.tables.append("t")
        history.run("insert into t values (1, 2, 3, 4, 5, 6), (2, 2, 3, 4, 5, 6)")
        history.marked(["update t set `a b` = 7, `__id` = 9 where `a b` = 1"])
        for query in (
            "select * from t", "select `a b` + 1 as `c 2`, `x``y` from t where `select` = 2", "select `ü`, sum(`__id`) `sum(x)` from t group by `ü`",
            "select p.`a b`, q.c1, q.`__id` from t p left join t q on p.`a b` = q.`select`", "select `__id`, count(*) n from t group by `__id`",
            "select c1, row_number() over (partition by `__id` order by `a b`) `r n` from t",
        ):  # fmt: skip
            check_interval(history, query, 0, 1)


class TestViews:
    def test_columns_of_a_star_go_by_name(self, history: History) -> None:
        """They are what the view has had from the beginning, whatever has come to the table and wherever they are."""
        history.run(
            "create table t (a int, b int, c int) using delta tblproperties "
            "('delta.enableRowTracking' = 'true', 'delta.columnMapping.mode' = 'name')",
            "insert into t values (1, 2, 3), (4, 5, 6)",
            "create view alike as select * from t",
            "create view renamed (x, `y z`, q) as with w as (select * from t) select b, a, c from (select * from w)",
            "create view starred (x, y, q, b) as select t.*, a + b as `s t` from t",
            "create view listed (x, n) as select a, count(*) as m from t group by a",
            "create view twice (x, y) as select a, a from (select * from t)",
            "create view open with schema evolution as select * from t",
        )
        version = partial(newest, history.session, "query_traps.t")
        views = [f"select * from {name}" for name in ("alike", "renamed", "starred", "listed", "twice", "open")]
        views.append("select v.q, count(*) n from renamed v join starred s on v.q = s.q group by v.q")
        for change in ("column c first", "column b after a"):
            history.run(f"alter table t alter {change}", "alter table t add column (more int)")
            begun, before = version(), {view: bag(history.session.sql(view).collect()) for view in views}
            history.run(
                "insert into t (a, b, c) values (7, 8, 9)", "update t set b = b + 1", "delete from t where a = 1"
            )
            for view in views:
                found = read(changes(history.session, view, begun, version()))
                assert apply_to_bag(before[view], found) == bag(history.session.sql(view).collect()), view
            history.run("alter table t drop column more", "insert into t (a, b, c) values (1, 2, 3)")

    def test_names_in_a_view_are_of_its_own_schema(self, history: History) -> None:
        """The session has views of that name, which the view does not mean; a temporary view it may be made of."""
        history.spark.sql("drop schema if exists query_other cascade")
        history.run("create schema query_other")
        other = session_with(history.spark, FAST, "query_other")
        try:
            other.sql(f"create table x (id int) {TRACKED.format(vectors='true')}")
            other.sql("create view over_x as select id from x")
            other.sql("create view farther as select id from over_x where id > 0")
            history.run("create view x as select 77 as id", "create temporary view over_x as select 78 as id")
            history.run(
                "create temporary view mine as select f.id from query_other.farther f, over_x o where o.id = 78"
            )
            other.sql("insert into x values (1)")
            for name in ("query_other.over_x", "query_other.farther", "mine"):
                found = changes(history.session, f"select * from {name}", 0, 1).collect()
                assert [(row["id"], row["_change_type"]) for row in found] == [(1, "insert")]
        finally:
            history.spark.sql("drop schema query_other cascade")

    def test_confs_that_a_view_was_made_with(self, history: History) -> None:
        """Refused only where by the session's it would be another query."""
        history.table("t", "id int, at timestamp, name string")
        history.run("insert into t values (1, timestamp'2026-01-02 03:00:00', '1')")
        views = {
            "plain": "select id, at from t where id > 0",
            "over_plain": "with w as (select * from plain) select a.id, b.at from w a join w b on a.id = b.id",
            "days": "select id, cast(at as date) as day from t",
            "over_days": "select id from days where day > date'2026-01-01'",
            "since": "select id from t where at > timestamp'2026-01-01 00:00:00'",
            "numbers": "select id, cast(name as int) as n from t",
        }
        history.run(*(f"create view {name} as {query}" for name, query in views.items()))
        history.run("create temporary view passing as select id from t")
        history.marked(["insert into t values (2, timestamp'2026-01-02 04:00:00', '2')"])
        for confs, refused in (
            ({"spark.sql.caseSensitive": "true"}, ()),
            ({"spark.sql.session.timeZone": "America/Los_Angeles"}, ("days", "over_days", "since")),
            ({"spark.sql.ansi.enabled": "false"}, ("days", "over_days", "numbers")),
        ):
            with session_confs(history.session, confs):
                found = {name for name in views if not self.is_read(history, name)}
                assert found == set(refused)
        with (
            session_confs(history.session, {"spark.sql.session.timeZone": "America/Los_Angeles"}),
            pytest.raises(UnsupportedQuery, match=r"view passing was made with .*timeZone = UTC, which is America/Los"),
        ):
            changes(history.session, "select * from passing", history.points[0])

    @staticmethod
    def is_read(history: History, view: str) -> bool:
        try:
            found = changes(history.session, f"select id from {view}", history.points[0], history.points[1])
        except UnsupportedQuery as error:
            assert "was made with spark.sql." in str(error)
            return False
        return [row["id"] for row in found.collect()] == [2]
