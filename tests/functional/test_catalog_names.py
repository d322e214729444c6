"""Three-part names, `spark_catalog` in front: in the profile, in sources, refs and streams, and in hand-written SQL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt
from pyspark.sql import SparkSession

from tests.functional.projects import SOURCES, World, run, run_logged

IN_CATALOG = SOURCES.replace("  - name: raw", "  - name: raw\n    database: spark_catalog")


class TestCatalogNames:
    prepare = (
        "create table {raw}.people (id int, name string) using delta",
        "insert into {raw}.people values (1, 'a')",
    )

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, spark: SparkSession, warehouse: Path) -> dict[str, Any]:
        return {"type": "streamspark", "warehouse_dir": str(warehouse), "threads": 1, "catalog": "spark_catalog"}

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        named = "database='spark_catalog'"
        stream = f"{{{{ config(materialized='stream', show_initial_rows=true, {named}) }}}} select * from"
        table = f"{{{{ config(materialized='incremental', {named}, incremental_strategy="
        return {
            "sources.yml": IN_CATALOG,
            "people_stream.sql": f"{stream} {{{{ source('raw', 'people') }}}}",
            "copy.sql": f"{table}'apply_changes', unique_key='id') }}}} select * from {{{{ stream('people_stream') }}}}",
            "copy_stream.sql": f"{stream} {{{{ ref('copy') }}}}",
            "log.sql": f"{table}'append') }}}} select id, name, _change_type from {{{{ stream('copy_stream') }}}}",
            "by_hand.sql": "-- depends_on: {{ ref('people_stream') }}\n{{ config(materialized='stream', show_initial_rows=true, at={'stream': "
            "'spark_catalog.' ~ target.schema ~ '.people_stream'}) }} "
            "select * from spark_catalog.{{ target.schema }}_raw.people",
            "pending.sql": "{{ config(materialized='table') }} -- depends_on: {{ ref('by_hand') }}\n"
            "select id, _change_type from spark_catalog.{{ target.schema }}.by_hand",
        }

    def test_streams_and_their_consumers(self, world: World) -> None:
        run("run")
        assert world.rows("copy") == [(1, "a")]
        assert world.rows("log") == [(1, "a", "insert")]
        assert world.rows("pending") == [(1, "insert")]
        world.sql(
            "insert into spark_catalog.{raw}.people values (2, 'b')", "update {raw}.people set name = 'A' where id = 1"
        )
        run("run")
        assert world.rows("copy") == [(1, "A"), (2, "b")]
        assert world.rows("select * from {dbt}.log where name <> 'a'") == [
            (1, "A", "update_postimage"),
            (2, "b", "insert"),
        ]
        assert world.rows("pending") == [(1, "insert"), (2, "insert")]

    def test_nothing_new(self, world: World) -> None:
        results, _ = run_logged("run", "--select", "copy", "log")
        assert {result.message for result in results.values()} == {"OK nothing new"}

    def test_a_renamed_table_is_found(self, world: World) -> None:
        world.sql("alter table {raw}.people rename to {raw}.persons", "insert into {raw}.persons values (3, 'c')")
        run("run", "--select", "copy")
        world.sql("alter table {raw}.persons rename to {raw}.people")
        assert world.rows("copy") == [(1, "A"), (2, "b"), (3, "c")]

    def test_docs_have_models_and_sources(self, world: World) -> None:
        run("run")
        run_dbt(["docs", "generate"])
        catalog = json.loads(Path(world.project.project_root, "target", "catalog.json").read_text())
        assert "model.test.copy" in catalog["nodes"] and "model.test.by_hand" in catalog["nodes"]
        assert "source.test.raw.people" in catalog["sources"]
