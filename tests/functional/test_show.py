"""`dbt show --select`: of a stream its pending changes, of a consumer what it would get; neither moves anything."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import run_dbt
from dbt_common.exceptions import DbtRuntimeError

from tests.functional.projects import READY, SOURCES, World, run

STREAM = "{{ config(materialized='stream') }} select id, amount from {{ source('raw', 'orders') }}"


class TestShow:
    prepare = (
        f"create table {{raw}}.orders (id int, amount int) using delta {READY}",
        "insert into {raw}.orders values (1, 10), (2, 20)",
        "create table {raw}.people (id int) using delta",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sources.yml": SOURCES,
            "s.sql": STREAM,
            "log.sql": "{{ config(materialized='incremental') }} select * from {{ stream('s') }}",
        }

    def test_show_tells_what_is_pending(self, world: World) -> None:
        run("run", "-s", "s")
        assert shown("s") == []
        world.sql("update {raw}.orders set amount = 11 where id = 1", "insert into {raw}.orders values (3, 30)")
        pending = [("insert", 3, 30), ("update_postimage", 1, 11), ("update_preimage", 1, 10)]
        assert changes_shown("s") == changes_shown("log") == changes_shown("s") == pending
        run("run", "-s", "log")
        assert (changes_shown("s"), shown("log")) == (pending, [])
        assert len(shown("s", "--limit", "2")) == 2

    def test_a_stream_that_was_not_built(self, world: World) -> None:
        world.sql("drop view {dbt}.s")
        with pytest.raises(DbtRuntimeError, match=r"does not exist\. Build it first: dbt run --select s"):
            run_dbt(["show", "-s", "s"])


def shown(model: str, *options: str) -> list[dict[str, Any]]:
    results = run_dbt(["show", "-s", model, "--output", "json", *options])
    table = results.results[0].agate_table
    return [dict(zip(table.column_names, row, strict=True)) for row in table.rows]


def changes_shown(model: str) -> list[tuple[Any, ...]]:
    return sorted((row["_change_type"], row["id"], row["amount"]) for row in shown(model))
