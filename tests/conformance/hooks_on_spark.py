"""What the hooks family says in Postgres' words, said in Spark's: the same checks, other SQL and another target."""

from __future__ import annotations

from typing import Any

import pytest

HOOK_COLUMNS = {
    "test_state": "string",
    "target_dbname": "string",
    "target_host": "string",
    "target_name": "string",
    "target_schema": "string",
    "target_type": "string",
    "target_user": "string",
    "target_pass": "string",
    "target_threads": "int",
    "run_started_at": "string",
    "invocation_id": "string",
    "thread_id": "string",
}


def create_hook_table(project: Any, name: str) -> None:
    columns = ", ".join(f"{column} {kind}" for column, kind in HOOK_COLUMNS.items())
    project.run_sql(f"drop table if exists {project.test_schema}.{name}")
    project.run_sql(f"create table {project.test_schema}.{name} ({columns})")


def hook_rows(project: Any, name: str, state: str) -> list[dict[str, Any]]:
    query = f"select {', '.join(HOOK_COLUMNS)} from {project.test_schema}.{name} where test_state = '{state}'"
    return [dict(zip(HOOK_COLUMNS, row, strict=True)) for row in project.run_sql(query, fetch="all")]


def check_row(row: dict[str, Any], state: str, project: Any) -> None:
    """Nothing of a Postgres login is in our target; the rest is what the suite asks for."""
    expected = {"test_state": state, "target_name": "default", "target_schema": project.test_schema}
    expected |= {"target_type": "streamspark", "target_threads": 1, "target_pass": ""}
    assert {key: row[key] for key in expected} == expected
    assert row["run_started_at"] and row["invocation_id"]
    assert row["thread_id"].startswith("Thread-") or row["thread_id"] == "MainThread"


class ModelHooks:
    """Mixed into the classes that write to on_model_hook."""

    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project: Any) -> None:
        create_hook_table(project, "on_model_hook")

    def check_hooks(self, state: str, project: Any, host: Any, count: int = 1) -> None:
        rows = hook_rows(project, "on_model_hook", state)
        assert len(rows) == count
        for row in rows:
            check_row(row, state, project)


class RunHooks:
    """Mixed into the class that writes to on_run_hook."""

    def check_hooks(self, state: str, project: Any, host: Any) -> None:
        rows = hook_rows(project, "on_run_hook", state)
        assert len(rows) == 1
        check_row(rows[0], state, project)

    def assert_used_schemas(self, project: Any) -> None:
        schemas = project.run_sql(f"select * from {project.test_schema}.schemas", fetch="all")
        assert schemas == [(project.test_schema,)]
        pairs = project.run_sql(f"select * from {project.test_schema}.db_schemas", fetch="all")
        assert pairs == [("None", project.test_schema)]
