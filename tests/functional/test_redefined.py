"""A differential model whose query, key, predicate or columns are others than in the run before."""

from __future__ import annotations

import re

import pytest

from tests.consuming import clean_log
from tests.functional.projects import READY, SOURCES, World, run, run_logged
from tests.functional.test_differential import audit, model

ORDERS = "select id, amount from {{ source('raw', 'orders') }}"
LARGE = f"{ORDERS} where amount > 5"
TABLES = (
    f"create table {{raw}}.orders (id int, amount int) using delta {READY}",
    "insert into {raw}.orders values (1, 5), (2, 7), (3, 9)",
)


class TestConfigurationChange:
    prepare = TABLES

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"sources.yml": SOURCES, **self.texts(ORDERS, "id", "id > 100")}

    def texts(self, query: str, key: str, final: str) -> dict[str, str]:
        """A model for each reaction."""
        config = f"unique_key='{key}', immutable_where='{final}', refresh='incremental', on_configuration_change='%s'"
        return {f"{name}.sql": model(query, config % name) for name in ("apply", "continue", "fail")}

    def change(self, world: World, query: str, key: str = "id", final: str = "id > 100") -> None:
        for path, text in self.texts(query, key, final).items():
            world.model(path, text)

    def test_another_query(self, world: World) -> None:
        run("run")
        self.change(world, LARGE)
        before = world.log("fail").version
        world.sql("insert into {raw}.orders values (4, 1)")
        results, log = run_logged("run", passes=False)
        assert "apply: made anew, its query is another one now" in log
        assert world.rows("apply") == [(2, 7), (3, 9)]
        assert "continue: by changes, as before (on_configuration_change: continue): its query is another one" in log
        assert world.rows("continue") == [(1, 5), (2, 7), (3, 9), (4, 1)]
        said = "fail: its query changed since its last run, and on_configuration_change is 'fail'. Nothing was written."
        assert results["fail"].status == "error" and said in str(results["fail"].message)
        assert world.log("fail").version == before

    def test_a_model_that_continues_does_so_in_each_run(self, world: World) -> None:
        world.sql("delete from {raw}.orders where id = 1", "insert into {raw}.orders values (5, 3)")
        run("run", "--select", "continue")
        assert world.rows("continue") == [(2, 7), (3, 9), (4, 1), (5, 3)]
        audit("continue")
        self.change(world, ORDERS)
        _, log = run_logged("run")
        assert "continue: made anew" not in log
        assert world.rows("continue") == world.rows("fail") == world.rows("apply")

    def test_another_key_or_predicate(self, world: World) -> None:
        self.change(world, ORDERS, key="amount", final="id < 3")
        results, log = run_logged("run", passes=False)
        assert "apply: made anew, its unique_key is another one now, its immutable_where is another one now" in log
        assert "(on_configuration_change: continue): its unique_key is another one now, its immutable_where is" in log
        said = "fail: its unique_key and its immutable_where changed since its last run"
        assert said in str(results["fail"].message)

    def test_a_full_refresh_takes_any(self, world: World) -> None:
        self.change(world, LARGE)
        run("run", "--full-refresh")
        assert world.rows("continue") == world.rows("fail") == world.rows("apply") == [(2, 7), (3, 9)]


TRACKED = "tblproperties={'delta.enableRowTracking': 'true'}"
CONFIGS = {"followed": f"unique_key='id', {TRACKED}", "alone": "unique_key='id'", "by_id": TRACKED}


class TestDifference:
    """Rows keep their ids where somebody may read the target's changes: only what differs between the queries is new."""

    prepare = TABLES

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sources.yml": SOURCES,
            **{f"{name}.sql": model(ORDERS, config) for name, config in CONFIGS.items()},
        }

    def ids(self, world: World) -> dict[int, int]:
        return dict(world.rows("select id, _metadata.row_id from {dbt}.followed"))

    def redefine(self, world: World, query: str) -> str:
        for name, config in CONFIGS.items():
            world.model(f"{name}.sql", model(query, config))
        _, log = run_logged("run")
        return log

    def test_only_what_differs_is_written(self, world: World) -> None:
        run("run")
        before = self.ids(world)
        world.sql("insert into {raw}.orders values (4, 8)", "update {raw}.orders set amount = 6 where id = 2")
        log = self.redefine(world, LARGE)
        assert "followed: by changes, its query is another one now, the rows of both are compared" in log
        assert "alone: made anew, its query" in log and "by_id: made anew, its query" in log
        for name in CONFIGS:
            assert world.rows(f"select id, amount from {{dbt}}.{name}") == [(2, 6), (3, 9), (4, 8)]
        after = self.ids(world)
        assert {after[key] for key in (2, 3)} == {before[key] for key in (2, 3)} and after[4] not in before.values()
        assert world.commits("followed")[-1].operation == "MERGE"

    def test_the_next_run_goes_on_from_there(self, world: World) -> None:
        before = world.log("followed").version
        world.sql("update {raw}.orders set amount = 1 where id = 3", "update {raw}.orders set amount = 10 where id = 1")
        run("run")
        assert world.rows("followed") == [(1, 10), (2, 6), (4, 8)]
        assert world.log("followed").version == before + 1
        audit("followed")

    def test_a_query_that_means_the_same_changes_no_row(self, world: World) -> None:
        before = self.ids(world)
        log = self.redefine(world, f"{ORDERS} where not (amount <= 5)")
        assert "followed: by changes, its query is another one now" in log
        assert self.ids(world) == before
        _, log = run_logged("run", "--select", "followed")
        assert "followed: nothing new" in log or "no base table changed" in log

    def test_a_key_that_is_none_is_an_error_and_nothing_is_written(self, world: World) -> None:
        before = world.log("followed").version
        world.model(
            "followed.sql", model("select 1 as id, amount from {{ source('raw', 'orders') }}", CONFIGS["followed"])
        )
        _, log = run_logged("run", "--select", "followed", passes=False)
        assert "unique_key (id)" in log
        assert world.log("followed").version == before


class TestKeys:
    """Rows are told apart by ids or by a key; a run that took the other way would leave what it should remove."""

    prepare = TABLES
    KEYS = ("", "id", "amount", "['id', 'amount']")

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"sources.yml": SOURCES, **{f"m{n}.sql": keyed(key) for n, key in enumerate(self.KEYS)}}

    def test_another_key_makes_it_anew(self, world: World) -> None:
        run("run")
        for n in range(len(self.KEYS)):
            world.model(f"m{n}.sql", keyed(self.KEYS[n - 1]))
        world.sql("delete from {raw}.orders where id = 1")
        _, log = run_logged("run")
        for n in range(len(self.KEYS)):
            assert f"m{n}: made anew, its unique_key is another one now" in log
        world.sql("delete from {raw}.orders where id = 2", "update {raw}.orders set amount = 1 where id = 3")
        run("run")
        for n in range(len(self.KEYS)):
            assert world.rows(f"select id, amount from {{dbt}}.m{n}") == [(3, 1)]
            assert ("__row_id" in world.columns(f"m{n}")) == (self.KEYS[n - 1] == "")

    def test_the_same_key_in_other_letters_is_none(self, world: World) -> None:
        world.model("m2.sql", keyed("ID"))
        _, log = run_logged("run", "--select", "m2")
        assert "made anew" not in log


def keyed(key: str) -> str:
    listed = key if key.startswith("[") else repr(key)
    return model(ORDERS, f"refresh='incremental'{f', unique_key={listed}' if key else ''}")


class TestSchemaChange:
    """`select *` of a table whose columns change: the text of the query stays."""

    prepare = (
        "create table {raw}.people (id int, name string, n int) using delta tblproperties ("
        "'delta.enableRowTracking' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true')",
        "insert into {raw}.people values (1, 'x', 1)",
    )
    REACTIONS = ("ignore", "append_new_columns", "sync_all_columns", "fail")
    TARGETS = (*REACTIONS, "ignore_by_key")

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        everything = "select * from {{ source('raw', 'people') }}"
        config = "refresh='incremental', on_schema_change='%s'"
        texts = {f"{name}.sql": model(everything, config % name) for name in self.REACTIONS}
        by_key = model(everything, "refresh='incremental', unique_key='id'")
        return {"sources.yml": SOURCES, **texts, "ignore_by_key.sql": by_key}

    def check(self, world: World, refused: tuple[str, ...], said: str) -> None:
        """All hold what the table does, but those of these reactions, which hold what they held, and whose errors say so."""
        kept = {name: world.log(name).version for name in refused}
        results = run("run", passes=False)
        wanted, names = world.rows("select * from {raw}.people"), world.spark.table(f"{world.raw}.people").columns
        for target in self.TARGETS:
            if target in kept:
                assert results[target].status == "error" and said in str(results[target].message), target
                assert world.log(target).version == kept[target]
            else:
                assert world.rows(f"select {', '.join(names)} from {{dbt}}.{target}") == wanted, target
                own = [] if target.endswith("_by_key") else ["__row_id"]
                assert world.columns(target) == [*names, *own]

    def test_a_new_column_and_a_wider_type(self, world: World) -> None:
        run("run")
        world.sql(
            "alter table {raw}.people add column extra int",
            "alter table {raw}.people alter column n type bigint",
            "insert into {raw}.people values (2, 'y', 30000000000, 20)",
        )
        self.check(
            world, ("fail",), "out of sync (new: extra int; another type: n int -> bigint), and on_schema_change"
        )

    def test_columns_of_other_names(self, world: World) -> None:
        """No row changes with them."""
        run("run", "--full-refresh", "--select", "fail")
        world.sql("alter table {raw}.people rename column n to m", "alter table {raw}.people drop column extra")
        self.check(
            world, ("fail", "append_new_columns"), "out of sync (new: m bigint; gone: n bigint, extra int), and on_"
        )

    def test_the_same_columns_again(self, world: World) -> None:
        """A run after that goes by changes."""
        world.sql("insert into {raw}.people values (5, 'e', 5)")
        _, log = run_logged("run", "--select", "ignore", "ignore_by_key")
        assert "ignore: by changes" in log and "ignore_by_key: by changes" in log

    def test_a_wrong_reaction_is_refused(self, world: World) -> None:
        world.model("ignore.sql", model("select 1 as a", "on_schema_change='append'"))
        _, log = run_logged("run", "--select", "ignore", passes=False)
        assert "on_schema_change = 'append' is not known" in log and "Allowed: ignore, append_new_columns" in log


class TestReboundColumns:
    """A column of another origin has the name now, and no row was written for that."""

    prepare = (
        "create table {raw}.people (id int, x string, y string) using delta tblproperties "
        "('delta.enableRowTracking' = 'true', 'delta.columnMapping.mode' = 'name')",
        "insert into {raw}.people values (1, 'a', 'A'), (2, 'b', 'B')",
    )
    FINAL = "immutable_where='id < 2'"

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        query = "select id, x from {{ source('raw', 'people') }}"
        counted = "select x, count(*) as n from {{ source('raw', 'people') }} group by x"
        return {
            "sources.yml": SOURCES,
            "by_id.sql": model(query, "refresh='incremental'"),
            "by_key.sql": model(query, "refresh='strict', unique_key='id'"),
            "counted.sql": model(counted, "unique_key='x'"),
        }

    def check(self, world: World) -> None:
        _, log = run_logged("run")
        wanted = world.rows("select id, x from {raw}.people")
        assert world.rows("select id, x from {dbt}.by_id") == world.rows("by_key") == wanted
        counted = world.rows("select x, count(*) from {raw}.people group by x")
        assert world.rows("select x, n from {dbt}.counted") == counted
        for name in ("by_id", "by_key", "counted"):
            assert f"{name}: made anew, another column has this name now: {world.raw}.people.x" in log

    def test_dropped_and_made_again(self, world: World) -> None:
        run("run")
        world.sql("alter table {raw}.people drop column x", "alter table {raw}.people add column x string")
        self.check(world)

    def test_two_names_swapped(self, world: World) -> None:
        world.sql(
            *(f"alter table {{raw}}.people rename column {pair}" for pair in ("x to z", "y to x", "z to y")),
            "insert into {raw}.people (id, x, y) values (3, 'C', 'c')",
        )
        self.check(world)

    def test_other_settings_of_the_session(self, world: World) -> None:
        day = "select id, string(timestamp'2026-01-01 12:00:00 UTC') as at, x from {{ source('raw', 'people') }}"
        zone = "pre_hook=\"set spark.sql.session.timeZone = {}\", unique_key='id', refresh='incremental'"
        world.model("by_key.sql", model(day, zone.format("UTC")))
        run("run", "--select", "by_key")
        world.model("by_key.sql", model(day, zone.format("Asia/Tokyo")))
        _, log = run_logged("run", "--select", "by_key")
        assert "by_key: made anew, spark.sql.session.timeZone: UTC -> Asia/Tokyo" in log
        assert {row[0] for row in world.rows("select at from {dbt}.by_key")} == {"2026-01-01 21:00:00"}

    def test_final_rows_take_no_id_of_another_query(self, world: World) -> None:
        """Ids are numbers within a table: those of two tables meet."""
        world.model("by_id.sql", model("select id, x from {{ source('raw', 'people') }}", self.FINAL))
        run("run", "--full-refresh", "--select", "by_id")
        world.sql("create table {raw}.orders as select id + 10 as id, y as x from {raw}.people")
        world.model("by_id.sql", model("select id, x from {{ source('raw', 'orders') }}", self.FINAL))
        run("run", "--select", "by_id")
        assert [row[0] for row in world.rows("select id from {dbt}.by_id")] == [1, 11, 12, 13]
        world.sql("delete from {raw}.orders where id = 11")
        run("run", "--select", "by_id")
        assert [row[0] for row in world.rows("select id from {dbt}.by_id")] == [1, 12, 13]


class TestFunctions:
    prepare = (
        *TABLES,
        "create function {raw}.plus(x int) returns int return x + 1",
        "create function {raw}.shown(x int) returns int return {raw}.plus(x) * 10",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        query = (
            "select id, {{ source('raw', 'orders').schema }}.shown(amount) as shown from {{ source('raw', 'orders') }}"
        )
        return {
            "sources.yml": SOURCES,
            "by_key.sql": model(query, "unique_key='id', refresh='incremental'"),
            "by_id.sql": model(query, "refresh='incremental'"),
        }

    def check(self, world: World, rows: list[tuple[int, int]]) -> None:
        for name in ("by_key", "by_id"):
            assert world.rows(f"select id, shown from {{dbt}}.{name}") == rows

    def test_one_made_anew_makes_its_tables_anew(self, world: World) -> None:
        run("run")
        world.sql("create or replace function {raw}.plus(x int) returns int return x + 2")
        _, log = run_logged("run")
        assert re.search(r"by_key: made anew, \w+\.plus\(\): \w{8} -> \w{8}\s", log)
        self.check(world, [(1, 70), (2, 90), (3, 110)])

    def test_the_same_made_again_does_not(self, world: World) -> None:
        world.sql(
            "create or replace function {raw}.plus(x int) returns int return x + 2",
            "insert into {raw}.orders values (4, 1)",
        )
        _, log = run_logged("run")
        assert "made anew" not in log
        self.check(world, [(1, 70), (2, 90), (3, 110), (4, 30)])
        audit("by_id")


class TestAnotherTable:
    """Another table has the name that the query says: that is another query, of the same text and on one table too."""

    prepare = tuple(
        text
        for table in ("people", "orders")
        for text in (
            f"create table {{raw}}.{table} (id int, v string) using delta {READY}",
            f"insert into {{raw}}.{table} values (1, '{table}'), (2, 'both')",
        )
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        query = "select id, v from {{ source('raw', 'people') }}"
        counted = f"select id, max(v) as v from ({query}) group by id"
        return {
            "sources.yml": SOURCES,
            "by_key.sql": model(query, "refresh='incremental', unique_key='id'"),
            "log.sql": f"{{{{ config(materialized='changes', initial_rows=true) }}}} {query}",
            "counted.sql": f"{{{{ config(materialized='stream', show_initial_rows=true) }}}} {counted}",
            "copy.sql": "{{ config(materialized='incremental', incremental_strategy='apply_changes', unique_key='id') }} "
            "select * from {{ stream('counted') }}",
        }

    def check(self, world: World) -> None:
        run("run")
        wanted = world.rows("select id, v from {raw}.people")
        signed = "sum(if(_change_type in ('insert', 'update_postimage'), 1, -1)) as n"
        summed = f"select id, v, {signed} from {{dbt}}.log group by id, v having n <> 0"
        assert world.rows(summed) == [(*row, 1) for row in wanted]
        for name in ("by_key", "copy"):
            assert world.rows(f"select id, v from {{dbt}}.{name}") == wanted, name

    def test_two_tables_swapped(self, world: World) -> None:
        run("run")
        world.sql("insert into {raw}.people values (3, 'people')")
        pairs = ("people to {raw}.away", "orders to {raw}.people", "away to {raw}.orders")
        world.sql(*(f"alter table {{raw}}.{pair.replace(' to ', ' rename to ')}" for pair in pairs))
        self.check(world)

    def test_the_next_run_goes_on_in_the_new_one(self, world: World) -> None:
        world.sql("insert into {raw}.people values (4, 'new')", "delete from {raw}.people where id = 2")
        self.check(world)

    def test_another_made_under_the_name(self, world: World) -> None:
        world.sql("alter table {raw}.people rename to {raw}.old", *self.prepare[:2])
        self.check(world)


class TestLostChanges:
    """What has changed cannot be told any more; what the query gives now can."""

    prepare = tuple(
        text
        for table in ("people", "orders")
        for text in (
            f"create table {{raw}}.{table} (id int, amount int) using delta {READY}",
            f"insert into {{raw}}.{table} values (1, 5), (2, 7)",
        )
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        texts = {
            f"{table}_{refresh}.sql": model(ORDERS.replace("'orders'", f"'{table}'"), f"refresh='{refresh}', {config}")
            for table in ("people", "orders")
            for refresh, config in (("auto", "unique_key='id'"), ("full", TRACKED), ("strict", TRACKED))
        }
        return {"sources.yml": SOURCES, **texts}

    def test_a_table_is_made_anew_unless_it_must_not_be(self, world: World) -> None:
        run("run")
        world.sql(
            "insert into {raw}.people values (3, 9)",
            "insert into {raw}.people values (4, 9)",
            "delete from {raw}.people where id = 1",
        )
        clean_log(world.spark, f"{world.raw}.people", before=world.log(f"{world.raw}.people").version)
        world.sql("drop table {raw}.orders", self.prepare[2], "insert into {raw}.orders values (1, 6)")
        results, log = run_logged("run", passes=False)
        assert {name for name, result in results.items() if result.status == "error"} == {
            "people_strict",
            "orders_strict",
        }
        for refresh in ("auto", "full"):
            assert world.rows(f"select id, amount from {{dbt}}.people_{refresh}") == [(2, 7), (3, 9), (4, 9)]
            assert world.rows(f"select id, amount from {{dbt}}.orders_{refresh}") == [(1, 6)]
            assert f"people_{refresh}: made anew, its changes cannot be told any more: table " in log
            assert f"orders_{refresh}: made anew, its changes cannot be told any more: " in log

    def test_the_next_run_goes_on(self, world: World) -> None:
        world.sql("insert into {raw}.people values (5, 1)")
        run("run", "--select", "people_auto")
        assert world.rows("people_auto") == [(2, 7), (3, 9), (4, 9), (5, 1)]
