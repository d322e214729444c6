"""Columns that come, go and change inside an interval, and names that need quotes."""

from __future__ import annotations

from dbt.adapters.streamspark.changes import changes
from tests.spark.queries.history import History
from tests.spark.queries.oracle import check_interval


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
