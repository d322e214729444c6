"""The generic tests on changes: each passes on what the adapter makes, and fails on a change set that is broken."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from tests.functional.projects import SOURCES, World, run
from tests.functional.test_query_streams import TABLES, TOTALS

LOG = (
    "select *, {v} as _commit_version, timestamp'2026-01-0{v}' as _commit_timestamp from values {rows} as t (k, v, "
    "_change_type, _row_id)"
)
CHANGES = "{{{{ config(materialized='changes', {}) }}}} "
BROKEN = {
    "bad_type": "(1, 'a', 'upsert', 'x')",
    "bad_half": "(1, 'a', 'update_preimage', 'x')",
    "bad_twice": "(1, 'a', 'insert', 'x'), (2, 'b', 'insert', 'x')",
    "bad_again": "(1, 'a', 'insert', 'x'), (1, 'a', 'delete', 'x')",
    "bad_noop": "(1, 'a', 'update_preimage', 'x'), (1, 'a', 'update_postimage', 'x')",
    "bad_id": "(1, 'a', 'insert', cast(null as string))",
}
TESTS = """
models:
  - name: totals_changes
    data_tests:
      - valid_change_set
      - applies_cleanly
      - equals_full_refresh
      - change_volume_between: {arguments: {min_rows: 1, max_rows: 4}}
      - change_volume_between: {name: too_many, arguments: {max_rows: 1}}
      - same_frontier: {arguments: {to: "ref('orders_now')"}}
      - same_frontier: {name: behind, arguments: {to: "ref('late')"}}
  - name: later_changes
    data_tests:
      - valid_change_set: {arguments: {per_commit: true}}
      - applies_cleanly: {arguments: {per_commit: true}}
      - equals_full_refresh
  - name: orders_now
    data_tests:
      - equals_full_refresh: {arguments: {query: "select * from {{ source('raw', 'orders') }}"}}
      - equals_full_refresh:
          name: another
          arguments: {query: "select * from {{ source('raw', 'orders') }} where id > 11"}
  - name: out_of_nothing
    data_tests:
      - valid_change_set
      - applies_cleanly: {name: unclean}
      - applies_cleanly: {name: clean, arguments: {start_from: "select 1 as k, 'a' as v"}}
      - equals_full_refresh: {name: unequal, arguments: {query: "select 1 as k, 'c' as v"}}
"""


class TestTests:
    prepare = TABLES

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        orders = "select * from {{ source('raw', 'orders') }}"
        broken = indent(
            dedent(
                "".join(
                    f"- {{name: {name}, data_tests: [valid_change_set: {{name: {name}_set}}]}}\n" for name in BROKEN
                )
            ),
            "  ",
        )
        return {
            "sources.yml": SOURCES + TESTS + broken,
            "totals_changes.sql": CHANGES.format("initial_rows=true") + TOTALS,
            "later_changes.sql": CHANGES.format("format='redo_log'") + TOTALS,
            "orders_stream.sql": "{{ config(materialized='stream', show_initial_rows=true) }} " + orders,
            **{
                f"{name}.sql": "{{ config(materialized='incremental', incremental_strategy='apply_changes', "
                "unique_key='id') }} select * from {{ stream('orders_stream') }}"
                for name in ("orders_now", "late")
            },
            "out_of_nothing.sql": "{{ config(materialized='table') }} "
            + LOG.format(v=1, rows="(1, 'a', 'update_preimage', 'x'), (1, 'b', 'update_postimage', 'x')")
            + " union all "
            + LOG.format(v=2, rows="(1, 'b', 'update_preimage', 'x'), (1, 'c', 'update_postimage', 'x')"),
            **{
                f"{name}.sql": "{{ config(materialized='table') }} " + LOG.format(v=1, rows=rows)
                for name, rows in BROKEN.items()
            },
        }

    def test_all(self, world: World) -> None:
        run("run")
        world.sql(
            "insert into {raw}.orders values (13, 2, 1), (14, 2, 2)",
            "delete from {raw}.orders where id in (10, 14)",
            "update {raw}.people set name = 'bert' where id = 2",
        )
        run("run", "--select", "totals_changes", "later_changes", "orders_now")
        world.sql("delete from {raw}.orders where id = 12")  # what nobody has consumed is no difference
        results = run("test", passes=False)
        failed = {name for name, result in results.items() if result.status == "fail"}
        errors = {name: result.message for name, result in results.items() if result.status == "error"}
        assert errors == {}
        assert failed == {"too_many", "behind", "another", "unclean", "unequal", *(f"{name}_set" for name in BROKEN)}
        assert len(results) == len(failed) + 11
        world.sql("delete from {dbt}.totals_changes where name = 'bert'")
        broken = run("test", "--select", "totals_changes", passes=False)
        wrong = {name.split("_totals")[0] for name, result in broken.items() if result.status == "fail"}
        assert wrong == {"equals_full_refresh", "too_many", "behind"}
