"""`incremental_strategy='differential'`: targets that each run brings to what their query gives now."""

from __future__ import annotations

import re

import pytest
from dbt.tests.util import run_dbt

from tests.functional.projects import SOURCES, World, run, run_logged
from tests.functional.test_query_streams import JOIN, TABLES, TOTALS, VIEW

QUERIES = {
    "joined": JOIN,
    "totals": TOTALS,
    "unmatched": "select p.id, p.name, o.id as o_id from {{ source('raw', 'people') }} p "
    "full join {{ source('raw', 'orders') }} o on o.person = p.id",
    "ranked": "select id, person, rank() over (partition by person order by amount desc) as place "
    "from {{ source('raw', 'orders') }}",
    "twice": "select person from {{ source('raw', 'orders') }} union all select id from {{ source('raw', 'people') }}",
    "names": "select distinct name from {{ source('raw', 'people') }}",
}
KEYED = {"totals": "name", "ranked": "['id']"}
ROUNDS = (
    (
        "insert into {raw}.orders values (13, 2, 1), (14, 3, 2), (15, null, 4)",
        "delete from {raw}.orders where id = 10",
        "update {raw}.people set name = 'bert' where id = 2",
    ),
    ("insert into {raw}.people values (3, 'ann', null), (3, 'ann', null)", "update {raw}.orders set person = 3"),
    ("delete from {raw}.people", "insert into {raw}.orders select * from {raw}.orders where id = 13"),
)


def model(query: str, config: str = "") -> str:
    start = "materialized='incremental', incremental_strategy='differential'"
    return f"{{{{ config({start}{', ' if config else ''}{config}) }}}}\n{query}"


class TestKeptEqual:
    prepare = TABLES

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        tests = "models:\n" + "".join(f"  - {{name: {name}, data_tests: [equals_full_refresh]}}\n" for name in QUERIES)
        keyed = {
            f"{name}_by_key.sql": model(QUERIES[name], f"unique_key={key!r}, refresh='incremental'")
            for name, key in KEYED.items()
        }
        keyed = {name: text.replace('"[', "[").replace(']"', "]") for name, text in keyed.items()}
        return {
            "sources.yml": SOURCES + tests,
            "people_v.sql": VIEW,
            **{f"{name}.sql": model(query, "refresh='incremental'") for name, query in QUERIES.items()},
            **keyed,
        }

    def check(self, world: World) -> None:
        world.sql(
            "create or replace temporary view people_v as select id as person, name as who from {raw}.people",
        )
        for name, query in QUERIES.items():
            wanted = world.rows(resolved(query))
            columns = ", ".join(world.spark.sql(resolved(query).format(raw=world.raw)).columns)
            for target in (name, f"{name}_by_key") if name in KEYED else (name,):
                assert world.rows(f"select {columns} from {{dbt}}.{target}") == wanted, target

    def test_the_first_run_builds(self, world: World) -> None:
        run("run")
        self.check(world)
        assert world.columns("totals") == ["name", "n", "total", "__row_id"]
        assert world.columns("totals_by_key") == ["name", "n", "total", "__count", "__count_of_total"]

    def test_every_later_run_follows(self, world: World) -> None:
        for statements in ROUNDS[:2]:
            before = {name: world.log(name).version for name in QUERIES}
            world.sql(*statements)
            run("run")
            self.check(world)
            assert {name: world.log(name).version - 1 for name in QUERIES} == before
            for name in QUERIES:
                commit = world.commits(name)[-1]
                assert commit.operation in ("MERGE", "WRITE")  # where all rows are new
                assert list(commit.txns.values()) == [world.log(name).version + 1]

    def test_a_run_with_no_change_writes_nothing(self, world: World) -> None:
        before = {name: world.log(name).version for name in QUERIES}
        _, log = run_logged("run")
        assert {name: world.log(name).version for name in QUERIES} == before
        assert "nothing new" in log

    def test_duplicate_keys_are_an_error_and_write_nothing(self, world: World) -> None:
        world.sql(*ROUNDS[2])
        before = world.log("ranked_by_key").version
        results = run("run", passes=False)
        failed = {name: result.message for name, result in results.items() if result.status == "error"}
        assert list(failed) == ["ranked_by_key"] and "whose unique_key (id) another row has" in failed["ranked_by_key"]
        assert world.log("ranked_by_key").version == before
        world.sql("delete from {raw}.orders where id = 13")
        run("run")
        self.check(world)

    def test_the_generic_test_tells_a_wrong_row(self, world: World) -> None:
        run("test")
        world.sql("insert into {dbt}.names values ('nobody', 'x')", "delete from {dbt}.ranked where id = 12")
        results = run("test", passes=False)
        wrong = {name for name, result in results.items() if result.status == "fail"}
        assert wrong == {name for name in results if "names" in name or "ranked" in name}
        audit("ranked", passes=False)
        run("run", "--full-refresh")
        audit("ranked")
        run("test")
        self.check(world)


def audit(name: str, passes: bool = True) -> None:
    run_dbt(["run-operation", "audit_consumer", "--args", f"{{model: {name}}}"], expect_pass=passes)


def resolved(query: str) -> str:
    for name in ("people", "orders"):
        query = query.replace(f"{{{{ source('raw', '{name}') }}}}", f"{{raw}}.{name}")
    return query.replace("{{ ref('people_v') }}", "people_v")


class TestRefresh:
    prepare = TABLES

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sources.yml": SOURCES,
            "auto.sql": model(TOTALS),
            "added.sql": model(TOTALS, "unique_key='name'"),
            "most.sql": model(TOTALS.replace("count", "max(o.amount) as most, count"), "unique_key='name'"),
            "whole.sql": model(TOTALS, "refresh='full'"),
            "changing.sql": model("select id, amount from {{ source('raw', 'orders') }}"),
        }

    def test_empty_comes_first(self, world: World) -> None:
        run("run", "--empty")
        assert world.rows("auto") == []
        made = {name: world.columns(name) for name in ("added", "most")}
        run("run")
        run("run", "--full-refresh", "--select", "added", "most")
        assert {name: world.columns(name) for name in made} == made
        assert world.rows("select * except (__row_id) from {dbt}.auto") == [("ann", 2, 12), ("bob", 1, 9)]

    def test_auto_makes_anew_what_has_changed_for_the_most_part(self, world: World) -> None:
        world.sql("update {raw}.orders set amount = amount + 1")
        _, log = run_logged("run")
        anew = [commit.operation for commit in world.commits("auto")][-1]
        assert anew == "WRITE"
        assert re.search(r"auto: made anew, \d+\.\d% of the bytes of \S+ changed, more than 25%", log), log
        assert "whole: made anew, refresh: full" in log
        assert world.rows("select * except (__row_id) from {dbt}.whole") == [("ann", 2, 14), ("bob", 1, 10)]

    def test_auto_follows_few_changes(self, world: World) -> None:
        world.sql(
            "insert into {raw}.orders select id + 1000, 2, cast(rand() * 1000 as int) from range(20000)",
        )
        run("run")
        world.sql("insert into {raw}.orders values (20, 1, 1)")
        _, log = run_logged("run", "--select", "auto")
        assert re.search(r"auto: by changes, \d+\.\d% of the bytes of \S+ changed, no more than 25%", log), log
        assert world.commits("auto")[-1].operation == "MERGE"

    def test_another_query_makes_it_anew(self, world: World) -> None:
        world.model("changing.sql", model("select id, amount * 2 as doubled from {{ source('raw', 'orders') }}"))
        _, log = run_logged("run", "--select", "changing")
        assert "changing: made anew, its query is another one now" in log
        assert world.columns("changing") == ["id", "doubled", "__row_id"]

    def test_what_is_refused(self, world: World) -> None:
        pivot = "select * from {{ source('raw', 'orders') }} pivot (sum(amount) for person in (1, 2))"
        orders = "select * from {{ source('raw', 'orders') }}"
        for text, said in (
            (model(orders, "refresh='sometimes'"), "refresh = 'sometimes' is not known"),
            (model(orders, "file_format='parquet'"), "needs file_format delta"),
            (
                model("select * from {{ stream('feed') }}"),
                "cannot consume a stream with incremental_strategy='differential'",
            ),
            (model("select id, rand() as r from {{ source('raw', 'orders') }}"), "rand"),
            (model("select id as __row_id from {{ source('raw', 'orders') }}"), "has a column __row_id, which is what"),
            (model("select id as __sign from {{ source('raw', 'orders') }}", "unique_key='__sign'"), "column __sign"),
        ):
            world.model("wrong.sql", text)
            world.model("feed.sql", "{{ config(materialized='stream') }} " + orders)
            _, log = run_logged("run", "--select", "feed", "wrong", passes=False)
            assert said in log, log
        world.model("wrong.sql", model(pivot, "refresh='strict'"))
        run("run", "--select", "wrong")
        world.sql("insert into {raw}.orders values (21, 1, 1)")
        _, log = run_logged("run", "--select", "wrong", passes=False)
        assert "mode strict: there is no rule for" in log
