"""A source that dbt makes again on each run does not break its streams: a table model, a seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.functional.projects import World, operations, run

CONSUMER = "{{{{ config(materialized='incremental', {}) }}}} select * from {{{{ stream('{}') }}}}"


class TestRebuiltSources:
    prepare = (
        "create table {raw}.facts (id int, v string) using delta",
        "insert into {raw}.facts values (1, 'a'), (2, 'b')",
    )

    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {"seeded.csv": "id,v\n1,a\n2,b\n"}

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        stream = "{{{{ config(materialized='stream', {}show_initial_rows=true) }}}} select * from {{{{ ref('{}') }}}}"
        apply = "incremental_strategy='apply_changes', unique_key='id'"
        return {
            "base.sql": "{{ config(materialized='table') }} select * from {{ target.schema }}_raw.facts",
            "keyed.sql": stream.format("unique_key='id', ", "base"),
            "keyless.sql": stream.format("", "base"),
            "seed_stream.sql": stream.format("unique_key=['id'], ", "seeded"),
            "keyed_log.sql": CONSUMER.format("incremental_strategy='append'", "keyed"),
            "keyless_copy.sql": CONSUMER.format(apply, "keyless"),
            "seed_copy.sql": CONSUMER.format(apply, "seed_stream"),
        }

    def test_rebuilds(self, world: World) -> None:
        run("build")
        world.sql("update {raw}.facts set v = 'bb' where id = 2", "insert into {raw}.facts values (3, 'c')")
        Path(world.project.project_root, "seeds/seeded.csv").write_text("id,v\n2,b\n3,c\n")
        run("build")
        assert operations(world.commits("base"))[-1] == "CREATE OR REPLACE TABLE AS SELECT"
        assert world.rows("select id, v, _change_type from {dbt}.keyed_log") == [
            *[(1, "a", "insert"), (2, "b", "insert")],
            *[(2, "b", "update_preimage"), (2, "bb", "update_postimage"), (3, "c", "insert")],
        ]
        assert world.rows("keyless_copy") == world.rows("select * from {raw}.facts")
        assert world.rows("seed_copy") == [(2, "b"), (3, "c")]
        run("build")
        assert len(world.rows("keyed_log")) == 5
        assert world.rows("seed_copy") == [(2, "b"), (3, "c")]
