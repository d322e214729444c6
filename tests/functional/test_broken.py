"""Sources that went stale or broke, and targets that went back: errors that say what to do, and never a wrong row."""

from __future__ import annotations

import pytest

from tests.consuming import clean_log
from tests.functional.projects import READY, SOURCES, World, operations, run

PREPARE = tuple(
    text
    for table in ("people", "orders")
    for text in (
        f"create table {{raw}}.{table} (id int, name string) using delta {READY}",
        f"insert into {{raw}}.{table} values (1, 'a'), (2, 'b')",
    )
)
LOG = "{{{{ config(materialized='incremental') }}}} select id, name, _change_type from {{{{ stream('{}') }}}}"


class TestSources:
    prepare = PREPARE

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        stream = "{{{{ config(materialized='stream') }}}} select * from {{{{ source('raw', '{}') }}}}"
        return {
            "sources.yml": SOURCES,
            "people_stream.sql": stream.format("people"),
            "orders_stream.sql": stream.format("orders"),
            "people_log.sql": LOG.format("people_stream"),
            "orders_log.sql": LOG.format("orders_stream"),
        }

    def fails(self, world: World, *models: str) -> list[str]:
        before = {name: world.log(name).version for name in models}
        results = run("run", "--select", *models, passes=False)
        assert {name: world.log(name).version for name in models} == before
        return [str(results[name].message) for name in models]

    def test_tracking_off_and_log_cleaned(self, world: World) -> None:
        run("run")
        world.sql(
            "insert into {raw}.people values (3, 'c')",
            "alter table {raw}.people set tblproperties ('delta.enableRowTracking' = 'false')",
            *["insert into {raw}.orders values (3, 'c')"] * 2,
        )
        clean_log(world.spark, f"{world.raw}.orders", before=world.log(f"{world.raw}.orders").version)
        broken, stale = self.fails(world, "people_log", "orders_log")
        assert f"table {world.raw}.people: row tracking (delta.enableRowTracking) was off at version" in broken
        assert f"table {world.raw}.orders: version 1 is no longer in its log" in stale
        assert "--full-refresh" in broken and "--full-refresh" in stale

    def test_a_stream_whose_own_start_is_cleaned_away_does_not_stop_its_consumers(self, world: World) -> None:
        results = run("run", "--select", "orders_stream")
        assert "kept at version 1" in results["orders_stream"].message

    def test_full_refresh_helps(self, world: World) -> None:
        world.sql("alter table {raw}.people set tblproperties ('delta.enableRowTracking' = 'true')")
        run("run", "--full-refresh")
        world.sql("insert into {raw}.people values (4, 'd')", "insert into {raw}.orders values (4, 'd')")
        run("run")
        assert world.rows("people_log") == world.rows("orders_log") == [(4, "d", "insert")]

    def test_dropped_and_made_again(self, world: World) -> None:
        world.sql("drop table {raw}.people", "drop table {raw}.orders", *PREPARE[:2])
        made_again, gone = self.fails(world, "people_log", "orders_log")
        assert f"stream {world.schema}.people_stream: table {world.raw}.people was dropped and made again" in made_again
        assert f"table {world.raw}.orders does not exist any more" in gone


class TestTargets:
    prepare = PREPARE

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        docs = """
models:
  - name: people_log
    description: What happened
    config: {persist_docs: {relation: true, columns: true}}
    columns: [{name: id, description: "it's the key"}, {name: name, description: its name}]
"""
        stream = "{{ config(materialized='stream', max_data_extension_days=45) }} select * from {{ source('raw', 'people') }}"
        merged = (
            "{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }} "
            "select id, name from {{ stream('people_stream') }}"
        )
        return {
            "sources.yml": SOURCES + docs,
            "people_stream.sql": stream,
            "people_log.sql": LOG.format("people_stream"),
            "merged.sql": merged,
        }

    def test_retention_is_raised_where_the_stream_asks_for_it(self, world: World) -> None:
        run("run")
        properties = world.log(f"{world.raw}.people").properties
        assert properties["delta.deletedFileRetentionDuration"] == "interval 45 days"
        assert properties["delta.logRetentionDuration"] == "interval 45 days"

    def test_an_old_and_a_new_image_in_a_merge_are_explained(self, world: World) -> None:
        world.sql("insert into {raw}.people values (3, 'c')")
        run("run")
        world.sql("update {raw}.people set name = 'cc' where id = 3")
        results = run("run", passes=False)
        assert "Leave the old ones out" in str(results["merged"].message)
        assert world.rows("merged") == [(3, "c")]

    def test_a_restored_target_consumes_again_from_there(self, world: World) -> None:
        before = world.rows("people_log")
        version = next(c.version for c in world.commits("people_log") if c.operation == "WRITE")
        world.sql(f"restore table {{dbt}}.people_log to version as of {version - 1}")
        assert world.rows("people_log") == []
        run("run", "--select", "people_log")
        assert world.rows("people_log") == [(3, "cc", "insert")]
        assert len(before) == 3

    def test_comments_are_written_once(self, world: World) -> None:
        done = operations(world.commits("people_log"))
        assert done == [
            "CREATE OR REPLACE TABLE AS SELECT",
            "CHANGE COLUMNS",
            "WRITE",
            "WRITE",
            "RESTORE",
            "WRITE",
        ]
        comments = {f.name: f.metadata.get("comment") for f in world.spark.table(f"{world.schema}.people_log").schema}
        assert comments == {"id": "it's the key", "name": "its name", "_change_type": None}

    def test_what_fails_in_a_subquery_has_its_cause(self, world: World) -> None:
        people = "{{ source('raw', 'people') }}"
        query = f"select id, (select max(cast(name as int)) from {people}) as m from {people}"
        world.model("wrong_cast.sql", f"{{{{ config(materialized='table') }}}} {query}")
        results = run("run", "--select", "wrong_cast", passes=False)
        assert "Cause: [CAST_INVALID_INPUT]" in str(results["wrong_cast"].message)
