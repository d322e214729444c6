"""`dbt run` is killed, before and in its commit, and between that and what dbt does after it: comments, post-hooks."""

from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import ClassVar

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.steps import on_step
from tests.faults.harness.oracle import check_chain
from tests.faults.harness.shared_jvm import Address, address_of, connect, forking, when_idle
from tests.faults.harness.target_log import consumptions
from tests.functional.conftest import world  # noqa: F401
from tests.functional.projects import READY, SOURCES, World

MODEL = """
{{ config(materialized='incremental', incremental_strategy='append', persist_docs={'relation': true},
          post_hook=["insert into {{ this.schema }}.hooked select count(*) from {{ this }}",
                     "insert into {{ this.schema }}.hooked select min(id) from {{ this }}"]) }}
select id, name from {{ stream('people_stream') }} where _change_type = 'insert'
"""
STREAM = "{{ config(materialized='stream', show_initial_rows=true) }} select * from {{ source('raw', 'people') }}"
DOCS = "\nmodels: [{name: people_copy, description: 'who is there'}]\n"
CONSUMER = "streamspark/model.test.people_copy"
MOST_SECONDS = 180


def run_dbt(its: Connection, address: Address, project: str, profiles: str, at: tuple[str, ...]) -> None:
    """One `dbt run` on the JVM that is there, killed when it comes to the last of the steps, after the others."""
    from dbt.cli.main import dbtRunner

    connect(address)
    left = list(at)

    def reached(step: str) -> None:
        if left and step == left[0]:
            left.pop(0)
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    on_step(reached)
    found = dbtRunner().invoke(["--quiet", "run", "--project-dir", project, "--profiles-dir", profiles])
    its.send(found.success)


class TestKilled:
    prepare: ClassVar[list[str]] = [f"create table {{raw}}.people (id int, name string) using delta {READY}"]

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"sources.yml": SOURCES + DOCS, "people_stream.sql": STREAM, "people_copy.sql": MODEL}

    def run(self, spark: SparkSession, world: World, *at: str) -> int | None:  # noqa: F811
        context, project = forking(), world.project
        ours, its = context.Pipe()
        told = (its, address_of(spark), str(project.project_root), str(project.profiles_dir), at)
        process = context.Process(target=run_dbt, args=told)
        process.start()
        its.close()
        process.join(MOST_SECONDS)
        process.kill()
        assert at or ours.recv(), "dbt failed"
        when_idle(spark)
        code: int | None = process.exitcode
        return code

    def test_every_row_is_there_once(self, spark: SparkSession, world: World) -> None:  # noqa: F811
        world.sql("create table {dbt}.hooked (n bigint) using delta")
        crashes = [
            ("before_dml",),
            ("after_dml",),
            ("done",),
            ("done", "statement"),
            ("done", "statement", "statement"),
        ]
        for number, at in enumerate(crashes):
            world.sql(f"insert into {{raw}}.people values ({number}, 'p{number}')")
            assert self.run(spark, world, *at) == -signal.SIGKILL, at
            assert self.run(spark, world) == 0
            assert world.rows("select id from {dbt}.people_copy") == [(i,) for i in range(number + 1)], at
        check_chain(consumptions(self.path(world), CONSUMER))

    def path(self, world: World) -> Path:  # noqa: F811
        return Path(world.log("people_copy").path.removeprefix("file:"))
