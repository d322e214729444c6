"""What the functional tests share: a source table, dbt runs with their log, rows, commits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbt.tests.util import run_dbt_and_capture
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import Commit, TableLog
from dbt.adapters.streamspark.streams.catalog import find_stream
from dbt.adapters.streamspark.streams.definition import StreamDefinition

TRACKED = "tblproperties ('delta.enableRowTracking' = 'true')"
# All that a stream asks of its base table, so that making one adds no version.
READY = "tblproperties ('delta.enableRowTracking' = 'true', 'delta.deletedFileRetentionDuration' = 'interval 14 days')"
SOURCES = """
version: 2
sources:
  - name: raw
    schema: "{{ target.schema }}_raw"
    tables: [{name: people}, {name: orders}]
"""


class World:
    """One class's project: `sql` runs Spark SQL where {raw} is the schema of the sources and {dbt} dbt's."""

    def __init__(self, project: Any, spark: SparkSession):
        self.project = project
        self.spark = spark.newSession()
        self.spark.conf.set("spark.databricks.delta.changelogV2.enabled", "true")
        self.schema = project.test_schema
        self.raw = f"{self.schema}_raw"
        self.spark.sql(f"create schema if not exists {self.raw}")

    def drop(self) -> None:
        """Every schema of the class: operations look through the whole catalog, also what the next class runs."""
        for (name,) in self.spark.sql(f"show databases like '{self.schema.lower()}*'").collect():
            self.spark.sql(f"drop schema {name} cascade")

    def sql(self, *statements: str) -> None:
        for text in statements:
            self.spark.sql(text.format(raw=self.raw, dbt=self.schema))

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query, or of a table of dbt's schema, sorted."""
        text = query if " " in query else f"select * from {self.schema}.{query}"
        found = self.spark.sql(text.format(raw=self.raw, dbt=self.schema)).collect()
        return sorted((tuple(row) for row in found), key=lambda row: [(v is None, str(v)) for v in row])

    def columns(self, table: str) -> list[str]:
        return self.spark.table(f"{self.schema}.{table}").columns

    def log(self, table: str) -> TableLog:
        return TableLog(self.spark, table if "." in table else f"{self.schema}.{table}")

    def commits(self, table: str) -> list[Commit]:
        log = self.log(table)
        return [log.commit(version) for version in range(log.earliest_version(), log.version + 1)]

    def stream(self, name: str) -> StreamDefinition:
        return find_stream(self.spark, f"{self.schema}.{name}")

    def model(self, path: str, text: str) -> None:
        """Write a file under models/."""
        file = Path(self.project.project_root) / "models" / path
        file.write_text(text)


def run(*args: str, passes: bool = True) -> dict[str, Any]:
    """Name -> result of each node of a dbt command."""
    return run_logged(*args, passes=passes)[0]


def run_logged(*args: str, passes: bool = True) -> tuple[dict[str, Any], str]:
    """The same, and dbt's log."""
    results, log = run_dbt_and_capture([*args], expect_pass=None)
    found = {result.node.name: result for result in results or ()}
    failed = {name: result.message for name, result in found.items() if result.status in ("error", "fail")}
    assert bool(results is None or failed) != passes, f"{failed}\n{log}"
    return found, log


def operations(commits: Sequence[Commit]) -> list[str]:
    return [commit.operation for commit in commits]


def operate(operation: str, passes: bool = True, **arguments: Any) -> tuple[dict[str, Any], str]:
    """An operation's JSON ({} where it raised) and dbt's log."""
    args = json.dumps({**arguments, "format": "json"})
    _results, log = run_dbt_and_capture(["run-operation", operation, "--args", args], expect_pass=passes)
    lines = [line for line in log.splitlines() if line.startswith('{"')]
    return (json.loads(lines[-1]) if lines else {}), log
