"""What dbt itself could make go wrong: looking must not consume, failing must not lose, other targets must not mix."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.functional.projects import SOURCES, World, run, run_logged

STREAM = "{{ config(materialized='stream') }} select * from {{ source('raw', 'people') }}"
PREPARE = (
    "create table {raw}.people (id int, name string) using delta tblproperties ('delta.enableRowTracking' = 'true')",
    "insert into {raw}.people values (1, 'a')",
    "create table {raw}.orders (id int) using delta",
)
FROM_STREAM = "select id, name, _change_type from {{ stream('people_stream') }}"
LOG = "{{ config(materialized='incremental', on_schema_change='append_new_columns') }}"


class TestLooking:
    """Nothing but a run of the model consumes."""

    prepare = PREPARE

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        unit_tests = """
unit_tests:
  - name: names_are_upper
    model: latest
    given:
      - input: ref('people_stream')
        rows:
          - {id: 1, name: a, _change_type: insert}
          - {id: 2, name: b, _change_type: delete}
    expect:
      rows:
        - {id: 1, name: A, _change_type: insert}
        - {id: 2, name: B, _change_type: delete}
"""
        latest = "select id, upper(name) as name, _change_type from {{ stream('people_stream') }}"
        return {
            "sources.yml": SOURCES + unit_tests,
            "people_stream.sql": STREAM,
            "log.sql": f"{LOG} {FROM_STREAM}",
            "latest.sql": f"{{{{ config(materialized='table') }}}} {latest}",
        }

    @pytest.fixture(scope="class")
    def tests(self) -> dict[str, str]:
        return {"no_update.sql": "select * from {{ stream('people_stream') }} where _change_type = 'update_preimage'"}

    def test_before_anything_is_built_it_compiles(self, world: World) -> None:
        run("compile")

    def test_rows_older_than_the_stream_are_counted(self, world: World) -> None:
        _, log = run_logged("build", "--exclude", "test_type:unit")
        assert f"{world.schema}.log begins with the changes since stream {world.schema}.people_stream was made" in log
        assert f"1 older rows of {world.raw}.people are left out" in log
        world.sql("insert into {raw}.people values (2, 'b'), (3, 'c')")

    def versions(self, world: World) -> dict[str, int]:
        return {name: world.log(name).version for name in ("log", "latest")}

    def test_show_compile_inline_and_tests_look(self, world: World) -> None:
        before = self.versions(world)
        _, shown = run_logged("show", "--select", "log")
        assert "insert" in shown
        _, inline = run_logged("show", "--inline", "select count(*) as n from {{ stream('people_stream') }}")
        assert "| 2 |" in inline
        run("compile")
        compiled = Path(world.project.project_root, "target/compiled/test/models/log.sql").read_text()
        made = world.stream("people_stream").base_table.version
        assert f"versions ({made}, {made + 1}]" in compiled
        assert f"__{made}_{made + 1}`" in compiled
        run("test")
        assert self.versions(world) == before
        assert world.rows("log") == []

    def test_empty_and_sample_keep_the_offset(self, world: World) -> None:
        before = self.versions(world)
        run("run", "--empty")
        run("run", "--sample", "3 days", "--exclude", "people_stream")
        assert self.versions(world)["log"] == before["log"]
        assert world.rows("latest") == []
        run("run")
        assert world.rows("log") == [(2, "b", "insert"), (3, "c", "insert")]
        assert world.rows("latest") == [(2, "B", "insert"), (3, "C", "insert")]

    def test_full_refresh_of_the_stream_starts_its_consumers_again(self, world: World) -> None:
        world.sql("insert into {raw}.people values (4, 'd')")
        run("run", "--full-refresh", "--select", "people_stream")
        world.sql("insert into {raw}.people values (5, 'e')")
        run("run")
        assert [row[0] for row in world.rows("log")] == [2, 3, 5]
        run("run")
        assert [row[0] for row in world.rows("log")] == [2, 3, 5]

    def test_a_new_column_arrives(self, world: World) -> None:
        world.sql("alter table {raw}.people add column city string", "insert into {raw}.people values (6, 'f', 'Ulm')")
        world.model("log.sql", f"{LOG} {FROM_STREAM.replace('name,', 'name, city,')}")
        run("run")
        assert world.rows("select id, city from {dbt}.log where id > 4") == [(5, None), (6, "Ulm")]
        assert world.columns("people_stream")[:3] == ["id", "name", "city"]


class TestFailing:
    """A model that fails before its commit consumes nothing; one that fails after it has consumed."""

    prepare = PREPARE

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        hook = "select * from {{ target.schema }}_raw.switch"
        names = ("one", "two", "three", "four")
        return {
            "sources.yml": SOURCES,
            "people_stream.sql": STREAM,
            "hooked.sql": f"{{{{ config(materialized='incremental', post_hook='{hook}') }}}} {FROM_STREAM}",
            **{f"{name}.sql": f"{{{{ config(materialized='incremental') }}}} {FROM_STREAM}" for name in names},
        }

    def test_a_failing_hook_and_a_retry(self, world: World) -> None:
        world.sql("create table {raw}.switch (a int) using delta")
        run("run", "--select", "people_stream", "hooked")
        world.sql("insert into {raw}.people values (2, 'b')", "drop table {raw}.switch")
        results = run("run", "--select", "hooked", passes=False)
        assert "TABLE_OR_VIEW_NOT_FOUND" in str(results["hooked"].message)
        world.sql("create table {raw}.switch (a int) using delta")
        retried = run("retry")
        assert retried["hooked"].message == "OK nothing new"
        assert world.rows("hooked") == [(2, "b", "insert")]

    def test_a_hook_looks_and_consumes_nothing(self, world: World) -> None:
        """It writes by a statement of its own, which is no commit of an offset."""
        look = "insert into {{ target.schema }}_raw.looked select id from {{ stream('people_stream') }}"
        world.sql("create table {raw}.looked (id int) using delta")
        world.model("looking.sql", f'{{{{ config(materialized="incremental", pre_hook="{look}") }}}} select 1 as one')
        for _ in range(2):
            run("run", "--select", "looking")
        assert world.rows("select id from {raw}.looked") == [(2,), (2,)]
        assert not any(commit.txns for commit in world.commits("looking"))

    def test_a_python_model_is_refused(self, world: World) -> None:
        world.model("python.py", "def model(dbt, session):\n    return session.range(3)\n")
        results = run("run", "--select", "python", passes=False)
        assert "only supports languages ['sql']" in str(results["python"].message)
        (Path(world.project.project_root) / "models" / "python.py").unlink()

    def test_four_threads_see_the_same_interval(self, world: World) -> None:
        names = ("one", "two", "three", "four")
        run("run", "--threads", "4", "--select", *names)
        world.sql("insert into {raw}.people values (3, 'c')", "delete from {raw}.people where id = 1")
        results = run("run", "--threads", "4", "--select", *names)
        expected = [(1, "a", "delete"), (2, "b", "insert"), (3, "c", "insert")]
        assert [world.rows(name) for name in names] == [expected] * 4
        assert len({str(results[name].adapter_response["streams"]) for name in names}) == 1

    def test_a_wrong_statement_consumes_nothing(self, world: World) -> None:
        before = world.log("one").version
        world.sql("insert into {raw}.people values (7, 'g')")
        world.model(
            "one.sql",
            "{{ config(materialized='incremental') }} select 1 / 0 as id, name, _change_type from "
            "{{ stream('people_stream') }}",
        )
        run("run", "--select", "one", passes=False)
        assert world.log("one").version == before
        world.model("one.sql", f"{{{{ config(materialized='incremental') }}}} {FROM_STREAM}")
        run("run", "--select", "one")
        assert (7, "g", "insert") in world.rows("one")


class TestOtherTargets:
    """--defer reads another environment's stream with an offset of one's own; clones go on where their sources are."""

    prepare = PREPARE

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sources.yml": SOURCES.replace("{{ target.schema }}", "{{ var('raw') }}"),
            "people_stream.sql": STREAM,
            "log.sql": f"{{{{ config(materialized='incremental') }}}} {FROM_STREAM}",
        }

    @pytest.fixture(scope="class")
    def project_config_update(self, unique_schema: str) -> dict[str, Any]:
        return {"vars": {"raw": unique_schema}}

    @pytest.fixture(scope="class")
    def profiles_config_update(self, dbt_profile_target: dict[str, Any], unique_schema: str) -> dict[str, Any]:
        outputs = {
            name: {**dbt_profile_target, "schema": unique_schema + end}
            for name, end in [("default", ""), ("dev", "_dev"), ("ci", "_ci")]
        }
        return {"test": {"outputs": outputs, "target": "default"}}

    def rows(self, world: World, target: str) -> list[tuple[Any, ...]]:
        return world.rows(f"select id from {{dbt}}_{target}.log")

    def test_defer(self, world: World) -> None:
        run("run")
        world.sql("insert into {raw}.people values (2, 'b')")
        run("run")
        root = Path(world.project.project_root)
        (root / "state").mkdir()
        shutil.copy(root / "target" / "manifest.json", root / "state")
        defer = ("--target", "dev", "--defer", "--state", "state", "--select", "log")
        run("run", *defer)
        assert self.rows(world, "dev") == [(2,)]
        world.sql("insert into {raw}.people values (3, 'c')")
        run("run", *defer)
        assert self.rows(world, "dev") == [(2,), (3,)]
        assert world.rows("select id from {dbt}.log") == [(2,)]

    def test_clones_go_on_where_their_sources_are(self, world: World) -> None:
        run("clone", "--target", "ci", "--state", "state")
        ci = world.spark.sql(f"show tblproperties {world.schema}_ci.people_stream").collect()
        assert {row["key"]: row["value"] for row in ci}["streamspark.id"] == world.stream("people_stream").id
        assert self.rows(world, "ci") == [(2,)]
        run("run", "--target", "ci")
        assert self.rows(world, "ci") == [(2,), (3,)]
        run("run")
        assert world.rows("select id from {dbt}.log") == [(2,), (3,)]
