"""Every strategy consumes exactly once: rows compared, commits counted, one per model and run."""

from __future__ import annotations

import re

import pytest

from tests.functional.projects import READY, SOURCES, World, operations, run, run_logged

ODD = "`key id` int, `a.b` string, `tick``s` string, `größe` double, `select` map<string, int>"
MAPPED = "tblproperties ('delta.enableRowTracking' = 'true', 'delta.columnMapping.mode' = 'name')"


def stream(table: str, config: str = "show_initial_rows=true") -> str:
    return f"{{{{ config(materialized='stream', {config}) }}}} select * from {{{{ source('raw', '{table}') }}}}"


def consumer(strategy: str, sql: str, config: str = "") -> str:
    begin = f"materialized='incremental', incremental_strategy='{strategy}'"
    return f"{{{{ config({begin}{', ' if config else ''}{config}) }}}} {sql}"


class TestApplyChanges:
    """Keys that change, come back, are NULL, are composite; odd names; rows that stay are not written."""

    prepare = (
        f"create table {{raw}}.people (k1 int, k2 string, v string) using delta {READY}",
        "insert into {raw}.people values (1, 'a', 'one'), (2, 'b', 'two'), (null, 'c', 'three'), (4, null, 'four')",
        f"create table {{raw}}.orders ({ODD}) using delta {MAPPED}",
        "insert into {raw}.orders values (1, 'x', 'y', 1.5, map('m', 1)), (2, 'x', 'y', double('nan'), null)",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        keys = "unique_key=['k1', 'K2']"
        mapped = "tblproperties={'delta.columnMapping.mode': 'name'}"
        return {
            "sources.yml": SOURCES,
            "people_stream.sql": stream("people"),
            "people_snow.sql": stream("people", "show_initial_rows=true, metadata_columns='snowflake'"),
            "orders_stream.sql": stream("orders", "show_initial_rows=true, metadata_columns='singdata'"),
            "copy.sql": consumer("apply_changes", "select * from {{ stream('people_stream') }}", keys),
            "copy_snow.sql": consumer("apply_changes", "select * from {{ stream('people_snow') }}", keys),
            "some.sql": consumer(
                "apply_changes",
                "select k2, upper(v) as v, _change_type from {{ stream('people_stream') }} where v <> 'two'",
                "unique_key='k2'",
            ),
            "odd.sql": consumer(
                "apply_changes", "select * from {{ stream('orders_stream') }}", f"unique_key='key id', {mapped}"
            ),
        }

    def check(self, world: World) -> None:
        run("run")
        source = world.rows("select * from {raw}.people")
        assert world.rows("copy") == world.rows("copy_snow") == source
        kept = "select k2, upper(v) from {raw}.people where v <> 'two'"
        assert world.rows("some") == world.rows(kept)
        text = "select `key id`, `a.b`, `tick``s`, string(`größe`), to_json(`select`) from {}"
        assert world.rows(text.format("{dbt}.odd")) == world.rows(text.format("{raw}.orders"))

    def test_first_run_has_the_new_images_without_metadata(self, world: World) -> None:
        self.check(world)
        assert world.columns("copy") == world.columns("copy_snow") == ["k1", "k2", "v"]
        assert world.columns("odd") == ["key id", "a.b", "tick`s", "größe", "select"]

    def test_inserts_updates_deletes(self, world: World) -> None:
        world.sql(
            "insert into {raw}.people values (5, 'e', 'five')",
            "update {raw}.people set v = 'ONE' where k1 = 1",
            "update {raw}.people set v = 'THREE' where k1 is null",
            "delete from {raw}.people where k2 is null",
            "update {raw}.orders set `größe` = 2.5, `select` = map('n', 2) where `key id` = 2",
        )
        self.check(world)

    def test_keys_that_change_and_keys_that_come_back(self, world: World) -> None:
        world.sql(
            "update {raw}.people set k1 = 11 where k1 = 1",
            "update {raw}.people set k2 = null where k2 = 'e'",
            "delete from {raw}.people where k1 is null",
            "insert into {raw}.people values (null, 'c', 'again')",
            "delete from {raw}.orders where `key id` = 1",
            "insert into {raw}.orders values (1, 'back', null, null, map())",
        )
        self.check(world)

    def test_two_rows_swap_their_keys(self, world: World) -> None:
        world.sql("update {raw}.people set k1 = if(k1 = 11, 2, 11), k2 = if(k2 = 'a', 'b', 'a') where k1 in (2, 11)")
        self.check(world)

    def test_rows_that_stay_as_they_are_are_not_written(self, world: World) -> None:
        world.sql(
            "update {raw}.people set v = 'x' where k2 = 'c'", "update {raw}.people set v = 'again' where k2 = 'c'"
        )
        world.sql("delete from {raw}.people where k2 = 'a'", "insert into {raw}.people values (11, 'a', 'two')")
        before = world.rows("select * from {raw}.people")
        self.check(world)
        assert world.rows("copy") == before
        newest = world.commits("copy")[-1]
        assert (newest.operation, newest.adds, newest.removes) == ("MERGE", [], [])

    def test_one_commit_per_run_that_has_something(self, world: World) -> None:
        self.check(world)
        for table in ("copy", "copy_snow", "some"):
            consumed = [commit for commit in world.commits(table) if commit.txns]
            assert consumed == world.commits(table)
            assert operations(consumed) == ["CREATE OR REPLACE TABLE AS SELECT", *["MERGE"] * 4], table

    def test_two_new_rows_of_one_key_are_an_error_and_nothing_is_consumed(self, world: World) -> None:
        before, version = world.rows("some"), world.log("some").version
        world.sql("insert into {raw}.people values (7, 'z', 'p'), (8, 'z', 'q')")
        results = run("run", passes=False)
        assert results["copy"].status == "success"
        message = str(results["some"].message)
        assert "model.test.some: 2 new rows for one unique_key (k2)" in message
        assert '{"k2":"z"}' in message
        assert (world.rows("some"), world.log("some").version) == (before, version)
        world.sql("delete from {raw}.people where k1 = 8")
        self.check(world)


class TestOtherStrategies:
    """append, merge, insert_overwrite, replace_where, table, a macro of the project; several streams in a model."""

    prepare = (
        f"create table {{raw}}.people (id int, city string, v int) using delta {READY}",
        "insert into {raw}.people values (1, 'Ulm', 10), (2, 'Bonn', 20), (3, 'Ulm', 30), (null, 'Kiel', 5)",
        f"create table {{raw}}.orders (city string) using delta {READY}",
        "create table {raw}.hook_log (at string) using delta",
    )

    @pytest.fixture(scope="class")
    def macros(self) -> dict[str, str]:
        return {
            "own.sql": "{% macro get_incremental_only_new_sql(arg_dict) %} insert into {{ arg_dict.target_relation }} "
            "select id, v from {{ arg_dict.temp_relation }} where _change_type = 'insert' {% endmacro %}"
        }

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        live = "select id, city, v, _change_type = 'delete' as gone from {{ stream('people_stream') }}"
        touched = """
with touched as (
    select city from {{ stream('people_stream') }} union select city from {{ stream('orders_stream') }}
)
select count(*) as n, city, sum(v) as v from {{ source('raw', 'people') }} join touched using (city) group by city
"""
        hook = "insert into {{ target.schema }}_raw.hook_log values ('{{ this.name }}')"
        return {
            "sources.yml": SOURCES,
            "people_stream.sql": stream("people"),
            "orders_stream.sql": stream("orders"),
            "appended.sql": consumer(
                "append",
                "select *, '{{ invocation_id }}' as run from {{ stream('people_stream') }}",
                f'pre_hook="{hook}", post_hook="{hook}"',
            ),
            "merged.sql": consumer("merge", f"{live} where _change_type <> 'update_preimage'", "unique_key=['ID']"),
            "merged_v.sql": consumer(
                "merge",
                f"{live} where _change_type <> 'update_preimage'",
                "unique_key='id', merge_update_columns=['v'], incremental_predicates=['false or DBT_INTERNAL_DEST.v < 1000 -- all']",
            ),
            "cities.sql": consumer("insert_overwrite", touched, "partition_by='city'"),
            "big.sql": consumer(
                "replace_where",
                "select city, sum(v) as v from {{ source('raw', 'people') }} where city in "
                "(select city from {{ stream('people_stream') }}) {% if is_incremental() %} and city = 'Ulm' {% endif %} "
                "group by city",
                "replace_where=\"city = 'Ulm'\"",
            ),
            "own.sql": consumer(
                "only_new",
                "select id, v {% if is_incremental() %}, _change_type {% endif %} from {{ stream('people_stream') }}",
            ),
            "latest.sql": "{{ config(materialized='table') }} select id, _change_type from {{ stream('people_stream') }}",
        }

    def test_first_run(self, world: World) -> None:
        results, log = run_logged("run")
        everybody = [(1, "Ulm", 10), (2, "Bonn", 20), (3, "Ulm", 30), (None, "Kiel", 5)]
        assert world.rows("select id, city, v from {dbt}.appended") == everybody
        assert world.rows("merged") == [(*row, False) for row in everybody]
        assert world.rows("cities") == [(1, "Bonn", 20), (1, "Kiel", 5), (2, "Ulm", 40)]
        assert world.rows("latest") == [(1, "insert"), (2, "insert"), (3, "insert"), (None, "insert")]
        assert results["appended"].adapter_response["rows_affected"] == 4
        (read,) = results["appended"].adapter_response["streams"]
        until = world.log(f"{world.raw}.people").commit(1).timestamp
        assert read == {
            "stream": f"{world.schema}.people_stream",
            "table": f"{world.raw}.people",
            "from": None,
            "to": 1,
            "shape": "INITIAL_ROWS",
            "from_time": None,
            "to_time": until.isoformat(timespec="seconds"),
        }
        response = results["appended"].adapter_response
        assert (response["consumption"], response["tries"], response["rows_inserted"]) == (1, 1, 4)
        assert response["seconds"] > 0
        line = (
            rf"{world.schema}.appended: {world.schema}.people_stream initial rows at 1 of {until:%Y-%m-%d %H:%M:%S} UTC "
            r"INITIAL_ROWS: 4 rows inserted in \d+\.\d s, consumption 1"
        )
        assert re.search(line, log)

    def test_second_run(self, world: World) -> None:
        world.sql(
            "update {raw}.people set v = v + 1 where id is null",
            "update {raw}.people set v = 33 where id = 3",
            "delete from {raw}.people where id = 1",
            "insert into {raw}.people values (6, 'Jena', 60)",
            "insert into {raw}.orders values ('Bonn')",
        )
        results, log = run_logged("run")
        appended = world.rows("select id, v, _change_type from {dbt}.appended where _commit_version > 1")
        assert appended == [
            (1, 10, "delete"),
            (3, 30, "update_preimage"),
            (3, 33, "update_postimage"),
            (6, 60, "insert"),
            (None, 5, "update_preimage"),
            (None, 6, "update_postimage"),
        ]
        assert world.rows("merged") == [
            (1, "Ulm", 10, True),
            (2, "Bonn", 20, False),
            (3, "Ulm", 33, False),
            (6, "Jena", 60, False),
            (None, "Kiel", 6, False),
        ]
        assert world.rows("select id, v, gone from {dbt}.merged_v where id in (1, 3)") == [
            (1, 10, False),
            (3, 33, False),
        ]
        assert world.rows("cities") == [(1, "Bonn", 20), (1, "Jena", 60), (1, "Kiel", 6), (1, "Ulm", 33)]
        assert world.rows("big") == [("Bonn", 20), ("Kiel", 5), ("Ulm", 33)]
        assert world.rows("own") == [(1, 10), (2, 20), (3, 30), (6, 60), (None, 5)]
        assert world.rows("latest") == world.rows(
            "select id, _change_type from {dbt}.appended where _commit_version > 1"
        )
        assert [read["stream"].split(".")[1] for read in results["cities"].adapter_response["streams"]] == [
            "people_stream", "orders_stream",
        ]  # fmt: skip
        assert (
            results["merged"].adapter_response["rows_updated"],
            results["merged"].adapter_response["rows_inserted"],
        ) == (3, 1)
        times = r"of 20[-\d]+ [:\d]+ to 20[-\d]+ [:\d]+ UTC"
        merged = rf"merged: \S+people_stream \(1, \d+\] {times} MINIMIZE: 1 rows inserted, 3 updated, \d+ deleted in \d"
        assert re.search(merged, log), log

    def test_nothing_new_writes_nothing_but_the_table_which_becomes_empty(self, world: World) -> None:
        consumers = ("appended", "merged", "merged_v", "cities", "big", "own")
        before = {name: (world.log(name).version, world.rows(name)) for name in consumers}
        results = run("run")
        assert {name: (world.log(name).version, world.rows(name)) for name in consumers} == before
        assert {results[name].message for name in consumers} == {"OK nothing new"}
        assert world.rows("latest") == []

    def test_commits_and_hooks(self, world: World) -> None:
        """One commit per run; hooks run each time, outside of the consumption."""
        counts = {"appended": 2, "merged": 2, "merged_v": 2, "cities": 2, "big": 2, "own": 2, "latest": 3}
        for name, count in counts.items():
            commits = world.commits(name)
            assert len(commits) == count, operations(commits)
            assert [commit.txns for commit in commits] == [
                {f"streamspark/model.test.{name}": n} for n in range(1, count + 1)
            ]
        hooks = [commit for commit in world.commits(f"{world.raw}.hook_log") if commit.operation == "WRITE"]
        assert len(hooks) == 6
        assert not any(commit.txns or commit.info.get("userMetadata") for commit in hooks)
        assert world.spark.conf.get("spark.sql.sources.partitionOverwriteMode") == "STATIC"

    def test_full_refresh_of_a_consumer_starts_at_the_streams_start(self, world: World) -> None:
        run("run", "--full-refresh", "--select", "appended", "merged")
        assert world.rows("select id, v, _change_type from {dbt}.appended") == [
            (2, 20, "insert"), (3, 33, "insert"), (6, 60, "insert"), (None, 6, "insert"),
        ]  # fmt: skip
        assert len(world.rows("merged")) == 4
        run("run", "--select", "appended", "merged")
        assert len(world.rows("appended")) == 4


class TestOrdinaryModels:
    """Models without streams: what a wrong configuration says."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        one = "select 1 as id"
        return {
            "unknown.sql": consumer("upsert", one),
            "two_commits.sql": consumer("delete+insert", one, "unique_key='id'"),
            "keyless.sql": consumer("apply_changes", one),
            "typeless.sql": consumer("apply_changes", one, "unique_key='id'"),
            "history.sql": consumer("apply_changes", one, "unique_key='id', scd_type=3"),
            "no_predicate.sql": consumer("replace_where", one),
            "parquet.sql": consumer("merge", one, "unique_key='id', file_format='parquet'"),
        }

    def test_each_says_what_to_do(self, world: World) -> None:
        said = {name: str(result.message) for name, result in run("run", passes=False).items()}
        for name, text in {
            "unknown": 'could not find an incremental strategy macro with the name "get_incremental_upsert_sql"',
            "two_commits": "takes two commits",
            "keyless": "needs a unique_key",
            "typeless": "no change type column",
            "history": "scd_type = 3 is not known. Allowed: 1, 2",
            "no_predicate": "needs the config replace_where",
            "parquet": "needs file_format delta or iceberg or hudi",
        }.items():
            assert text in said.pop(name)
        assert said == {}
