"""What a run costs: one commit per consumer that has something to read, none and no Spark job for one that has not."""

from __future__ import annotations

import pytest

from tests.functional.projects import SOURCES, TRACKED, World, operations, run
from tests.spark.jobs import jobs_so_far

CHANGED = "select id, city, v from {{ stream('people_stream') }} where _change_type <> 'update_preimage'"
STRATEGIES = {
    "append": "",
    "merge": ", unique_key='id'",
    "insert_overwrite": ", partition_by='city'",
    "replace_where": ", replace_where=\"city in ('Ulm', 'Bonn')\"",
    "apply_changes": ", unique_key='id'",
}
CREATE = "CREATE OR REPLACE TABLE AS SELECT"
WRITES = {
    "append": "WRITE",
    "merge": "MERGE",
    "insert_overwrite": "WRITE",
    "replace_where": "WRITE",
    "apply_changes": "MERGE",
    "table": CREATE,
}
# What they take today, of which Delta's own writes are the most. More means that a model reads something twice.
FIRST_JOBS = 8  # the first of them computes the snapshot of the source
JOBS = {"append": 6, "merge": 13, "insert_overwrite": 7, "replace_where": 10, "apply_changes": 14, "table": 8}


class TestCosts:
    prepare = (
        f"create table {{raw}}.people (id int, city string, v int) using delta {TRACKED}",
        "insert into {raw}.people values (1, 'Ulm', 10), (2, 'Bonn', 20)",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        stream = "select * from {{ source('raw', 'people') }}"
        consumers = {
            f"by_{name}.sql": f"{{{{ config(materialized='incremental', incremental_strategy='{name}'{config}) }}}} "
            + ("select * from {{ stream('people_stream') }}" if name == "apply_changes" else CHANGED)
            for name, config in STRATEGIES.items()
        }
        return {
            "sources.yml": SOURCES,
            "people_stream.sql": f"{{{{ config(materialized='stream', show_initial_rows=true) }}}} {stream}",
            "by_table.sql": f"{{{{ config(materialized='table') }}}} {CHANGED}",
            **consumers,
            **{
                f"second_{mode}.sql": f"{{{{ config(materialized='stream', mode='{mode}') }}}} {stream}"
                for mode in ("standard", "append_only", "insert_only")
            },
        }

    def cost(self, world: World, model: str, written: str) -> tuple[list[str], int]:
        """The commits that a run of `model` made in the table `written`, and the Spark jobs that it started."""
        known = world.spark.catalog.tableExists(written if "." in written else f"{world.schema}.{written}")
        before = len(world.commits(written)) if known else 0
        jobs = jobs_so_far(world.spark)
        run("run", "--select", model)
        jobs = jobs_so_far(world.spark) - jobs
        return operations(world.commits(written)[before:]), jobs

    def costs(self, world: World) -> dict[str, tuple[list[str], int]]:
        return {name: self.cost(world, f"by_{name}", f"by_{name}") for name in (*STRATEGIES, "table")}

    def test_a_second_stream_on_a_table(self, world: World) -> None:
        run("run", "--select", "people_stream")
        for mode in ("standard", "append_only", "insert_only"):
            assert self.cost(world, f"second_{mode}", f"{world.raw}.people") == ([], 0), mode

    def test_first_run(self, world: World) -> None:
        for name, (commits, jobs) in self.costs(world).items():
            assert (commits, jobs <= FIRST_JOBS) == ([CREATE], True), (name, jobs)

    def test_changes(self, world: World) -> None:
        world.sql("insert into {raw}.people values (3, 'Ulm', 30)", "update {raw}.people set v = 21 where id = 2")
        for name, (commits, jobs) in self.costs(world).items():
            assert (commits, jobs <= JOBS[name]) == ([WRITES[name]], True), (name, jobs)

    def test_nothing_new(self, world: World) -> None:
        """A table holds the changes of its latest run, so it is made empty: one commit."""
        costs = self.costs(world)
        commits, _jobs = costs.pop("table")
        assert commits == [CREATE]
        assert costs == dict.fromkeys(STRATEGIES, ([], 0))
