"""`immutable_where`: rows below a predicate are final, whatever the tables behind them say later."""

from __future__ import annotations

import pytest

from tests.functional.projects import READY, SOURCES, World, run, run_logged
from tests.functional.test_differential import audit, model

OLD = "immutable_where=\"day < date'2026-02-01'\""
ROWS = "select o.id, o.day, p.name from {{ source('raw', 'orders') }} o join {{ source('raw', 'people') }} p using (person)"
TOTALS = "select day, count(*) as n, sum(amount) as total from {{ source('raw', 'orders') }} group by day"
TABLES = (
    f"create table {{raw}}.orders (id int, person int, day date, amount int) using delta {READY}",
    f"create table {{raw}}.people (person int, name string) using delta {READY}",
    "insert into {raw}.orders values (1, 1, '2026-01-01', 5), (2, 1, '2026-02-01', 7), (3, 2, '2026-01-02', 9)",
    "insert into {raw}.people values (1, 'ann'), (2, 'bob')",
)
LATER = (
    "update {raw}.people set name = upper(name)",
    "delete from {raw}.orders where id = 3",
    "insert into {raw}.orders values (4, 2, '2026-01-01', 1), (5, 2, '2026-02-01', 2)",
    "update {raw}.orders set amount = amount + 10 where id in (1, 2)",
)
FINAL = [("2026-01-01", "ann", 1), ("2026-01-02", "bob", 3)]
OPEN = [("2026-02-01", "ANN", 2), ("2026-02-01", "BOB", 5)]
FINAL_TOTALS = [("2026-01-01", 1, 5), ("2026-01-02", 1, 9)]
OPEN_TOTALS = [("2026-02-01", 2, 19)]


def named(world: World, target: str) -> list[tuple[object, ...]]:
    return world.rows(f"select string(day), name, id from {{dbt}}.{target}")


def totals(world: World, target: str) -> list[tuple[object, ...]]:
    return world.rows(f"select string(day), n, total from {{dbt}}.{target}")


class TestFinalRows:
    prepare = TABLES

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        names = ("keyed", "by_id", "whole", "added", "grouped")
        tests = "models:\n" + "".join(f"  - {{name: {name}, data_tests: [equals_full_refresh]}}\n" for name in names)
        return {
            "sources.yml": SOURCES + tests,
            "keyed.sql": model(ROWS, f"unique_key='id', refresh='incremental', {OLD}"),
            "by_id.sql": model(ROWS, f"refresh='incremental', {OLD}"),
            "whole.sql": model(ROWS, f"unique_key='id', refresh='full', {OLD}"),
            "added.sql": model(TOTALS, f"unique_key='day', refresh='incremental', {OLD}"),
            "grouped.sql": model(TOTALS, f"refresh='incremental', {OLD}"),
        }

    def test_they_stay_as_they_were_built(self, world: World) -> None:
        run("run")
        world.sql(*LATER)
        run("run")
        for target in ("keyed", "by_id", "whole"):
            assert named(world, target) == FINAL + OPEN, target
        for target in ("added", "grouped"):
            assert totals(world, target) == FINAL_TOTALS + OPEN_TOTALS, target
        assert world.columns("added") == ["day", "n", "total", "__count", "__count_of_total"]

    def test_tests_and_audits_leave_them_out(self, world: World) -> None:
        run("test")
        audit("keyed")
        world.sql("update {dbt}.keyed set name = 'somebody' where id = 5")
        run("test", "--select", "keyed", passes=False)
        audit("keyed", passes=False)
        world.sql("update {dbt}.keyed set name = 'BOB' where id = 5")
        audit("keyed")

    def test_another_query_keeps_them(self, world: World) -> None:
        world.model("keyed.sql", model(ROWS.replace("o.day", "o.day, o.amount"), f"unique_key='id', {OLD}"))
        _, log = run_logged("run", "--select", "keyed")
        assert "keyed: made anew, its query is another one now" in log
        assert named(world, "keyed") == FINAL + OPEN
        assert world.rows("select id, amount from {dbt}.keyed") == [(1, None), (2, 17), (3, None), (5, 2)]

    def test_a_row_of_a_final_key_does_not_come_twice(self, world: World) -> None:
        world.sql("update {raw}.orders set day = '2026-03-01' where id = 1")
        run("run", "--select", "keyed", "whole")
        assert named(world, "keyed") == named(world, "whole") == FINAL + OPEN

    def test_another_predicate_computes_anew_what_it_no_longer_holds_for(self, world: World) -> None:
        later = OLD.replace("2026-02-01", "2026-01-02")
        world.model("by_id.sql", model(ROWS, f"refresh='incremental', {later}"))
        _, log = run_logged("run", "--select", "by_id")
        assert "by_id: made anew, its immutable_where is another one now" in log
        assert named(world, "by_id") == [FINAL[0], *OPEN]

    def test_a_full_refresh_computes_all(self, world: World) -> None:
        run("run", "--full-refresh")
        assert named(world, "whole") == [("2026-01-01", "BOB", 4), *OPEN, ("2026-03-01", "ANN", 1)]
        assert totals(world, "added") == [("2026-01-01", 1, 1), *OPEN_TOTALS, ("2026-03-01", 1, 15)]

    @pytest.mark.parametrize(
        ("where", "said"),
        [
            ("dya < 1", "there is no column dya, only id, day, name"),
            ("day <", "is no SQL expression"),
            ("true; drop table x", "is no SQL expression"),
            ("day = (select max(day) from other)", "looks at more than one row"),
            ("rand() < 0.5", "gives another value each time"),
            ("", "is no SQL predicate"),
        ],
    )
    def test_what_is_refused(self, world: World, where: str, said: str) -> None:
        before = world.log("whole").version
        world.model("whole.sql", model(ROWS, f'unique_key="id", immutable_where="{where}"'))
        _, log = run_logged("run", "--select", "whole", passes=False)
        assert said in log and world.log("whole").version == before


class TestFinalByTheClock:
    prepare = (f"create table {{raw}}.orders (id int, at timestamp, name string) using delta {READY}",)

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        config = "unique_key='id', refresh='incremental', immutable_where='at < current_timestamp()'"
        return {"sources.yml": SOURCES, "clocked.sql": model("select * from {{ source('raw', 'orders') }}", config)}

    def test_it_is_asked_as_of_the_run_before(self, world: World) -> None:
        """What has come since was not final then, whatever the clock says now: it would never be in the target."""
        world.sql("insert into {raw}.orders values (1, timestamp'2020-01-01', 'a')")
        run("run")
        world.sql("insert into {raw}.orders values (2, current_timestamp(), 'a')")
        run("run")
        assert world.rows("select id, name from {dbt}.clocked") == [(1, "a"), (2, "a")]
        world.sql("update {raw}.orders set name = 'b'", "insert into {raw}.orders values (3, now(), 'b')")
        run("run")
        assert world.rows("select id, name from {dbt}.clocked") == [(1, "a"), (2, "a"), (3, "b")]
