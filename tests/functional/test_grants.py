"""`grants`, for which Spark's catalog has no statement, are refused before a model has written anything."""

from __future__ import annotations

import pytest

from tests.functional.projects import READY, SOURCES, World, run

GRANTED = "{{{{ config(materialized='{}', grants={{'select': ['ann']}}) }}}} select * from {{{{ {} }}}}"


class TestGrants:
    prepare = (f"create table {{raw}}.people (id int) using delta {READY}", "insert into {raw}.people values (1)")

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        people = "source('raw', 'people')"
        return {
            "sources.yml": SOURCES,
            "all_people.sql": "{{ config(materialized='stream', show_initial_rows=true) }} "
            "select * from {{ source('raw', 'people') }}",
            "consumer.sql": GRANTED.format("incremental", "stream('all_people')"),
            "kept.sql": GRANTED.format("incremental', incremental_strategy='differential", people),
            "changed.sql": GRANTED.format("changes", people),
            "made.sql": GRANTED.format("table", people),
            "streamed.sql": GRANTED.format("stream", people),
        }

    def test_nothing_is_written(self, world: World) -> None:
        results = run("run", passes=False)
        names = ("consumer", "kept", "changed", "made", "streamed")
        for name in names:
            said = f"model.test.{name} has grants, and Spark's catalog has no GRANT."
            assert said in str(results[name].message), results[name].message
        assert [name for name in names if world.spark.catalog.tableExists(f"{world.schema}.{name}")] == []
        assert results["all_people"].status == "success"
