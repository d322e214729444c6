"""Commits that take a table to another state than what the commits before them lead to."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.log import Commit, TableLog

REPLACES = frozenset(
    f"{verb}{rest}" for verb in ("CREATE OR REPLACE TABLE", "REPLACE TABLE") for rest in ("", " AS SELECT")
)
REWINDS = REPLACES | {"RESTORE", "CLONE"}


def restored_version(log: TableLog, commit: Commit) -> int:
    """The version that a RESTORE commit restored."""
    parameters = commit.info["operationParameters"]
    if parameters.get("version") is not None:
        return int(parameters["version"])
    spark = log.spark
    when = spark._jvm.java.sql.Timestamp.valueOf(str(parameters["timestamp"]))  # type: ignore[union-attr]
    none = spark._jvm.scala.Option.empty()  # type: ignore[union-attr]
    active = log.java.history().getActiveCommitAtTime(when, none, True, False, True)
    return min(int(active.version()), commit.version - 1)
