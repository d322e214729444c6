"""Every command of the pages for operators runs, in the order of the page, on the project that they tell of."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt

from tests.functional.projects import READY, World, run

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(sql)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSUMER = "{{{{ config(materialized='incremental', incremental_strategy='{}'{}) }}}} select * from {{{{ stream('orders_stream') }}}}"


def commands(page: str) -> Iterator[tuple[str, str]]:
    """(language, command) of each line in the page's blocks; `a && b` are two."""
    for language, text in BLOCK.findall((DOCS / page).read_text()):
        for line in text.splitlines():
            yield from ((language, part.strip()) for part in line.split(" && "))


@pytest.mark.parametrize("page, least", [("guides/on-call.md", 20), ("reference/operations.md", 16)])
class TestPages:
    prepare = (f"create table {{dbt}}.orders (order_id int, amount int) using delta {READY}",)

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sources.yml": "sources: [{name: shop, schema: '{{ target.schema }}', tables: [{name: orders}]}]",
            "orders_stream.sql": "{{ config(materialized='stream', show_initial_rows=true) }} "
            "select * from {{ source('shop', 'orders') }}",
            "order_log.sql": CONSUMER.format("append", ""),
            "dim_orders.sql": CONSUMER.format("apply_changes", ", unique_key='order_id'"),
        }

    def test_every_command_runs(self, world: World, page: str, least: int) -> None:
        run("run", "--full-refresh")  # the page before ends with the stream dropped
        done = 0
        for language, command in commands(page):
            done += 1
            world.sql(f"insert into {{dbt}}.orders values ({done}{least}, 1)")  # there is always something to read
            self.execute(world, language, command.replace("analytics", world.schema))
        assert done >= least

    def execute(self, world: World, language: str, command: str) -> None:
        if language == "sql":
            world.spark.sql(command)
            return
        program, *arguments = shlex.split(command)
        assert program == "dbt", command
        run_dbt(arguments)
