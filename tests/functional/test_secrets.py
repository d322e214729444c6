"""What must stay where it is, a credential of the profile, a value of the environment, a row: looked for in all that is
written beside the rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.functional.projects import READY, SOURCES, World, operate, run_logged

CREDENTIAL, ENVIRONMENT, ROW = "credential-8f2c", "environment-1d7a", "row-value-93be"
CONSUMER = "{{ config(materialized='incremental', incremental_strategy='apply_changes', unique_key='id') }} select * from {{ stream('people_stream') }}"


class TestSecrets:
    prepare = (
        f"create table {{raw}}.people (id int, name string) using delta {READY}",
        f"insert into {{raw}}.people values (1, '{ROW}')",
    )

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target: dict[str, Any]) -> dict[str, Any]:
        return {**dbt_profile_target, "spark_config": {"spark.hadoop.fs.s3a.secret.key": CREDENTIAL}}

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        docs = "version: 2\nmodels: [{name: people_stream, description: 'the ${system:streamspark.secret} of people'}]"
        config = "materialized='stream', show_initial_rows=true, persist_docs={'relation': true}"
        return {
            "sources.yml": SOURCES,
            "docs.yml": docs,
            "people_stream.sql": f"{{{{ config({config}) }}}} select * from {{{{ source('raw', 'people') }}}} where name <> '${{system:streamspark.secret}}'",
            "people_now.sql": CONSUMER,
        }

    def test_nothing_of_them_is_written(self, world: World) -> None:
        world.spark._jvm.java.lang.System.setProperty("streamspark.secret", ENVIRONMENT)
        logs = [run_logged("--debug", "run")[1]]
        world.sql(f"insert into {{raw}}.people values (2, '{ROW}')", "delete from {raw}.people where id = 1")
        logs.append(run_logged("--debug", "run", "--select", "people_now")[1])
        logs.append(operate("describe_stream", stream="people_stream")[1])
        logs.append(operate("preview_consume", model="people_now")[1])
        infos = [json.dumps(commit.info) for commit in world.commits("people_now")]
        properties = str(world.rows("show tblproperties {dbt}.people_stream"))
        files = [p for p in Path(world.project.project_root).rglob("*.json") if p.is_file()]
        written = [*logs, *infos, properties, *(path.read_text() for path in files)]
        assert len(infos) == 2 and files and "the ${system:streamspark.secret} of people" in "".join(logs)
        for secret in (CREDENTIAL, ENVIRONMENT, ROW):
            assert [text[max(0, text.find(secret) - 200) :][:400] for text in written if secret in text] == []

    def test_an_error_of_ours_names_the_key_and_nothing_else_of_a_row(self, world: World) -> None:
        world.sql(f"insert into {{raw}}.people values (3, '{ROW}'), (3, '{ROW}')")
        log = run_logged("run", "--select", "people_now", passes=False)[1]
        assert '{"id":3}' in log and ROW not in log
