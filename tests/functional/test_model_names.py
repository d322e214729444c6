"""Models go by their names, whatever their tables are called: versions in operations, aliases in `at` and `changes()`."""

from __future__ import annotations

import pytest

from tests.functional.projects import READY, SOURCES, World, operate, run

VERSIONS = """
models:
  - {name: sv, latest_version: 2, versions: [{v: 1}, {v: 2}]}
  - {name: cv, latest_version: 2, versions: [{v: 1}, {v: 2}]}
"""
STREAM = "{{{{ config(materialized='stream', show_initial_rows=true) }}}} select * from {{{{ source('raw', '{}') }}}}"
CONSUMER = "{{{{ config(materialized='incremental') }}}} select * from {{{{ stream('sv', v={}) }}}}"


class TestVersions:
    prepare = tuple(f"create table {{raw}}.{name} (id int) using delta {READY}" for name in ("people", "orders"))

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sources.yml": SOURCES + VERSIONS,
            "sv_v1.sql": STREAM.format("people"),
            "sv_v2.sql": STREAM.format("orders"),
            "cv_v1.sql": CONSUMER.format(1),
            "cv_v2.sql": CONSUMER.format(2),
        }

    def test_the_name_alone_is_the_latest_version(self, world: World) -> None:
        run("run")
        found, _ = operate("describe_stream", stream="sv")
        assert (found["name"], found["base_tables"]) == ("sv_v2", [f"{world.raw}.orders"])
        assert operate("preview_consume", model="cv")[0]["consumer"] == f"{world.schema}.cv_v2"
        assert operate("consumer_history", model="cv")[0]["history"][0]["streams"][0].startswith(
            f"{world.schema}.sv_v2:"
        )

    @pytest.mark.parametrize("name", ["sv.v1", "sv_v1", "test.sv.v1"])
    def test_a_version_has_its_own_name(self, world: World, name: str) -> None:
        assert operate("describe_stream", stream=name)[0]["name"] == "sv_v1"

    def test_the_latest_is_dropped(self, world: World) -> None:
        assert operate("drop_stream", stream="sv", force=True)[0]["dropped"] == f"{world.schema}.sv_v2"
        assert world.stream("sv_v1")


class TestOtherStreams:
    prepare = (
        f"create table {{raw}}.people (id int) using delta {READY}",
        "insert into {raw}.people values (1)",
        "insert into {raw}.people values (2)",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        people = "select * from {{ source('raw', 'people') }}"
        after = "-- depends_on: {{ ref('far') }}\n"
        return {
            "sources.yml": SOURCES,
            "far.sql": "{{ config(materialized='stream', schema='far', alias='a_stream', at={'version': 1}) }}"
            + people,
            "like_far.sql": f"{after}{{{{ config(materialized='stream', at={{'stream': 'far'}}) }}}} {people}",
            "since_far.sql": f"{after}{{{{ config(materialized='table') }}}} select id from "
            "{{ changes(source('raw', 'people'), start={'stream': 'far'}) }}",
        }

    def test_a_stream_elsewhere_goes_by_its_models_name(self, world: World) -> None:
        run("run")
        assert world.stream("like_far").base_table.version == 1
        assert world.rows("since_far") == [(2,)]
