"""A run of a maintained model that another run of it overtakes between its plan and its commit."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from dbt.adapters.streamspark.consume.commit import Outcome
from dbt.adapters.streamspark.consume.differential import DifferentialConfig
from dbt.adapters.streamspark.streams.consumers import consumer_name
from tests.functional.projects import SOURCES, TRACKED, World, operations, run
from tests.spark.consume.interruptions import at_step
from tests.spark.test_differential import Target

COUNTED = "select city, count(*) as n, sum(v) as total from {{ source('raw', 'people') }} group by city"
KEYS = {"counted": ("city",), "plain": ()}
PLAIN = "select id, city, v from {{ source('raw', 'people') }} where v < 100"


@dataclass
class Rival(Target):
    """Another process that runs the same model."""

    unique_id: str = ""

    @property
    def consumer(self) -> str:
        return consumer_name(self.unique_id, {})


class TestOvertaken:
    prepare = (
        f"create table {{raw}}.people (id int, city string, v int) using delta {TRACKED}",
        "insert into {raw}.people values (1, 'Ulm', 10), (2, 'Bonn', 20)",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        maintained = "materialized='incremental', incremental_strategy='differential', refresh='incremental'"
        return {
            "sources.yml": SOURCES,
            "counted.sql": f"{{{{ config({maintained}, unique_key='city') }}}} {COUNTED}",
            "plain.sql": f"{{{{ config({maintained}) }}}} {PLAIN}",
        }

    def test_only_what_the_other_has_left_is_written(self, world: World) -> None:
        for name, result in run("run").items():
            world.sql("update {raw}.people set v = v + 1", "insert into {raw}.people values (3, 'Ulm', 30)")
            config, query = DifferentialConfig(KEYS[name], "incremental"), result.node.compiled_code
            rival = Rival(world.spark, f"{world.schema}.{name}", query, config, unique_id=result.node.unique_id)
            other = rival.plan()
            world.sql("insert into {raw}.people values (4, 'Ulm', 40)", "delete from {raw}.people where id = 3")
            before = world.log(name).version
            outcomes: list[Outcome | None] = []
            with at_step("before_dml", lambda: outcomes.append(other()), anywhere=True):  # noqa: B023
                run("run", "--select", name)
            assert len(outcomes) == 1
            assert operations(world.commits(name)[before + 1 :]) == ["MERGE", "MERGE"]
            columns = ", ".join(world.spark.sql(query).columns)
            assert world.rows(f"select {columns} from {{dbt}}.{name}") == world.rows(query)
