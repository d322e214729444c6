"""What tables say of their columns: declared lengths, contracts and their constraints."""

from __future__ import annotations

import pytest

from tests.functional.projects import READY, SOURCES, World, run, run_logged
from tests.functional.test_differential import model

PEOPLE = "select id, ch from {{ source('raw', 'people') }}"
FEED = "{{ config(materialized='stream', show_initial_rows=true) }} select * from {{ source('raw', 'people') }}"
APPLIED = "{{ config(materialized='incremental', incremental_strategy='apply_changes', unique_key='id') }} "


class TestDeclaredLengths:
    prepare = (
        f"create table {{raw}}.people (id int, ch char(5)) using delta {READY}",
        "insert into {raw}.people values (1, 'a'), (2, 'b')",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        counted = "select ch, count(*) as n from {{ source('raw', 'people') }} group by ch"
        return {
            "sources.yml": SOURCES,
            "feed.sql": FEED,
            "applied.sql": APPLIED + "select * from {{ stream('feed') }}",
            "followed.sql": model(PEOPLE, "unique_key=['id', 'ch'], refresh='incremental'"),
            "counted.sql": model(counted, "unique_key='ch', refresh='incremental'"),
        }

    def test_a_char_column_is_merged(self, world: World) -> None:
        """With padding while it is read, Delta 4.4 cannot put such a MERGE together."""
        run("run")
        world.sql("update {raw}.people set ch = 'zz' where id = 1", "insert into {raw}.people values (3, 'b')")
        run("run")
        assert world.rows("applied") == world.rows("followed") == [(1, "zz   "), (2, "b    "), (3, "b    ")]
        assert world.rows("select ch, n from {dbt}.counted") == [("b    ", 2), ("zz   ", 1)]


class TestConstraints:
    prepare = (
        f"create table {{raw}}.people (id int, ch string) using delta {READY}",
        "insert into {raw}.people values (1, 'a'), (2, 'b')",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        contract = """
  - name: {}
    config: {{contract: {{enforced: true}}, on_schema_change: append_new_columns}}
    constraints: [{{type: check, name: small, expression: 'id < 100'}}]
    columns:
      - {{name: id, data_type: int, constraints: [{{type: not_null}}, {{type: check, expression: 'id > 0'}}]}}
      - {{name: ch, data_type: string}}
"""
        names = ("applied", "followed", "plain")
        return {
            "sources.yml": SOURCES + "models:" + "".join(contract.format(name) for name in names),
            "feed.sql": FEED,
            "applied.sql": APPLIED + "select id, ch, _change_type from {{ stream('feed') }}",
            "followed.sql": model(PEOPLE, "unique_key='id'"),
            "plain.sql": "{{ config(materialized='table') }} " + PEOPLE,
        }

    def constraints(self, world: World, name: str) -> list[str]:
        found = (key for key in world.log(name).properties if key.startswith("delta.constraints."))
        return sorted(key.removeprefix("delta.constraints.")[:11] for key in found)

    def test_a_contract_is_kept_by_the_table(self, world: World) -> None:
        run("run", "--exclude", "applied")
        for name in ("followed", "plain"):
            assert self.constraints(world, name) == ["check_02803", "id_not_null", "small"], name

    def test_a_row_that_breaks_it_is_refused_and_what_is_missing_comes_back(self, world: World) -> None:
        world.sql("alter table {dbt}.followed drop constraint small")
        run("run", "--select", "followed")
        assert "small" in self.constraints(world, "followed")
        before = world.log("followed").version
        world.sql("insert into {raw}.people values (-3, 'c')")
        for refresh in ("--fail-fast", "--full-refresh"):
            _, log = run_logged("run", "--select", "followed", refresh, passes=False)
            assert "id > 0" in log and world.log("followed").version == before
