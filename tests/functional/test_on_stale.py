"""on_stale: what a consumer does whose stream has gone stale: stop, make its table anew, or take over what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.consuming import clean_log
from tests.functional.projects import READY, SOURCES, World, operate, operations, run, run_logged

NOW = [(2, "B"), (3, "c"), (4, "d")]


def stream(on_stale: str) -> str:
    return f"{{{{ config(materialized='stream', on_stale='{on_stale}') }}}} select * from {{{{ source('raw', 'people') }}}}"


def consumer(config: str, name: str, select: str = "*") -> str:
    return f"{{{{ config(materialized='incremental', {config}) }}}} select {select} from {{{{ stream('{name}') }}}}"


class TestOnStale:
    prepare = (
        f"create table {{raw}}.people (id int, name string) using delta {READY}",
        "insert into {raw}.people values (1, 'a'), (2, 'b')",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        copy = "incremental_strategy='apply_changes', unique_key='id'"
        return {
            "sources.yml": SOURCES,
            "s_fail.sql": stream("fail"),
            "s_anew.sql": stream("full_refresh"),
            "s_rebase.sql": stream("rebase"),
            "failing.sql": consumer(copy, "s_fail"),
            "log.sql": consumer("incremental_strategy='append'", "s_anew", "id, name, _change_type"),
            "anew.sql": consumer(copy, "s_anew"),
            "rebased.sql": consumer(copy, "s_rebase"),
            "no_rebase.sql": consumer("incremental_strategy='append'", "s_rebase", "id, name"),
            "asks.sql": "{{ config(materialized='incremental') }} select id from {{ stream('s_anew') }} {% if is_incremental() %} where id > 0 {% endif %}",
            "two.sql": "{{ config(materialized='incremental') }} select id from {{ stream('s_fail') }} union all select id from {{ stream('s_anew') }}",
        }

    def test_each_as_it_says(self, world: World) -> None:
        run("run")
        world.sql("insert into {raw}.people values (3, 'c')")
        run("run")
        world.sql("insert into {raw}.people values (4, 'd')", "delete from {raw}.people where id = 3")
        world.sql("update {raw}.people set name = 'B' where id = 2", "insert into {raw}.people values (3, 'c')")
        world.sql("delete from {raw}.people where id = 1")
        source = f"{world.raw}.people"
        clean_log(world.spark, source, before=world.log(source).version)
        before = {
            name: world.log(name).version for name in ("failing", "log", "anew", "rebased", "no_rebase", "asks", "two")
        }
        world.sql("insert into {dbt}.rebased values (9, 'by hand')")
        results, log = run_logged("run", passes=False)
        moved = {name: world.log(name).version - version for name, version in before.items()}
        assert moved == {"failing": 0, "log": 1, "anew": 1, "rebased": 2, "no_rebase": 0, "asks": 0, "two": 0}, log
        assert world.rows("log") == [(*row, "insert") for row in NOW]
        assert world.rows("select id, name from {dbt}.anew") == world.rows("select id, name from {dbt}.rebased") == NOW
        assert operations(world.commits("log"))[-1] == "CREATE OR REPLACE TABLE AS SELECT"
        assert operations(world.commits("rebased"))[-1] == "MERGE"
        assert "on_stale: rebase, since" in log
        assert "a rebase needs incremental_strategy='apply_changes'" in str(results["no_rebase"].message)
        assert "asks is_incremental()" in str(results["asks"].message)
        assert "is no longer in its log" in str(results["failing"].message)

    def test_from_there_on_as_always(self, world: World) -> None:
        world.sql("insert into {raw}.people values (5, 'e')", "delete from {raw}.people where id = 4")
        run("run", "--select", "log", "anew", "rebased")
        wanted = [(2, "B"), (3, "c"), (5, "e")]
        assert (
            world.rows("select id, name from {dbt}.anew") == world.rows("select id, name from {dbt}.rebased") == wanted
        )
        assert world.rows("select * from {dbt}.log where id > 3") == [
            (4, "d", "delete"),
            (4, "d", "insert"),
            (5, "e", "insert"),
        ]
        versions = [world.log(name).version for name in ("log", "rebased")]
        run("run", "--select", "log", "rebased")
        assert [world.log(name).version for name in ("log", "rebased")] == versions

    def test_a_file_that_vacuum_took_is_seen_before_anything_is_read(self, world: World) -> None:
        world.sql("delete from {raw}.people where id = 2", "optimize {raw}.people")
        source, live = world.log(f"{world.raw}.people"), world.spark.table(f"{world.raw}.people").inputFiles()
        for file in Path(source.path.removeprefix("file:")).glob("*.parquet"):
            if file.name not in "".join(live):
                file.unlink()
        run("run", "--select", "rebased")
        assert world.rows("select id, name from {dbt}.rebased") == [(3, "c"), (5, "e")]

    def test_a_deletion_vector_that_vacuum_took(self, world: World) -> None:
        """Its file is there still, under another vector."""
        world.sql(
            "alter table {raw}.people set tblproperties ('delta.enableDeletionVectors' = 'true')",
            "insert into {raw}.people select /*+ coalesce(1) */ cast(id as int), 'x' from range(10, 20)",
            "delete from {raw}.people where id = 10",
        )
        run("run", "--full-refresh", "--select", "s_fail", "s_rebase", "failing", "rebased")
        (old,) = Path(world.log(f"{world.raw}.people").path.removeprefix("file:")).glob("*.bin")
        world.sql("delete from {raw}.people where id = 11")
        old.unlink()
        shown, _ = operate("show_streams")
        reasons = {row["name"].split(".")[-1]: row["invalid_reason"] for row in shown["streams"] if row["stale"]}
        assert old.name in reasons["s_fail"] and old.name in reasons["s_rebase"]
        results, log = run_logged("run", "--select", "failing", "rebased", passes=False)
        said = str(results["failing"].message)
        assert "StaleSource" in said and "raw.people: a file that the changes need is no longer there" in said
        assert "on_stale: rebase, since" in log
        assert world.rows("select id, name from {dbt}.rebased") == world.rows("select * from {raw}.people")
