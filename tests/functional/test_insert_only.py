"""mode='insert_only': rows of files that arrived, from a table that nobody tracks."""

from __future__ import annotations

import pytest

from tests.functional.projects import SOURCES, World, run

STREAM = (
    "{{{{ config(materialized='stream', mode='insert_only', show_initial_rows={}) }}}} "
    "select id, upper(name) as name from {{{{ source('raw', 'people') }}}} where id < 100"
)
LOG = "{{{{ config(materialized='incremental') }}}} select id, name, _change_type from {{{{ stream('{}') }}}}"
FIRST = [(1, "A", "insert"), (2, "B", "insert")]


class TestInsertOnly:
    prepare = (
        "create table {raw}.people (id int, name string) using delta tblproperties ('delta.enableDeletionVectors' = 'false')",
        "insert into {raw}.people values (1, 'a'), (2, 'b'), (100, 'too many')",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sources.yml": SOURCES,
            "landed.sql": STREAM.format("false"),
            "landed_all.sql": STREAM.format("true"),
            "log.sql": LOG.format("landed"),
            "log_all.sql": LOG.format("landed_all"),
        }

    def logs(self, world: World) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
        return world.rows("log"), world.rows("log_all")

    def test_only_the_one_that_asks_for_them_gets_the_rows_that_were_there(self, world: World) -> None:
        run("run")
        assert self.logs(world) == ([], FIRST)
        log = world.log(f"{world.raw}.people")
        assert log.properties.keys() >= {"delta.deletedFileRetentionDuration"}
        assert "delta.enableRowTracking" not in log.properties

    def test_both_get_what_arrives(self, world: World) -> None:
        world.sql("insert into {raw}.people values (3, 'c'), (101, 'too many')")
        arrived = (3, "C", "insert")
        assert world.rows("select id, name, _change_type from {dbt}.landed") == [arrived]
        assert world.rows("select id, name, _change_type from {dbt}.landed_all") == [*FIRST, arrived]
        run("run")
        assert self.logs(world) == ([arrived], [*FIRST, arrived])

    def test_compaction_brings_nothing_new(self, world: World) -> None:
        before = self.logs(world)
        world.sql("optimize {raw}.people")
        results = run("run", "--select", "log", "log_all")
        assert {result.message for result in results.values()} == {"OK nothing new"}
        assert self.logs(world) == before

    def test_a_file_that_is_rewritten_arrives_again_and_one_that_is_gone_does_not(self, world: World) -> None:
        log, log_all = self.logs(world)
        world.sql("insert into {raw}.people values (4, 'd')", "delete from {raw}.people where id in (1, 4)")
        world.sql("insert into {raw}.people values (5, 'e')")
        run("run", "--select", "log", "log_all")
        arrived = [(2, "B", "insert"), (3, "C", "insert"), (5, "E", "insert")]
        assert self.logs(world) == (sorted([*log, *arrived]), sorted([*log_all, *arrived]))
