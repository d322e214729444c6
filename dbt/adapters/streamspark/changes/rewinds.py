"""Commits that take a table to another state than what the commits before them lead to."""

from __future__ import annotations

from typing import Any

from dbt.adapters.streamspark.changes.file_changes import EMPTY, file_changes
from dbt.adapters.streamspark.changes.log import Commit, TableLog
from dbt.adapters.streamspark.errors import OffsetUnknown

REPLACES = frozenset(
    f"{verb}{rest}" for verb in ("CREATE OR REPLACE TABLE", "REPLACE TABLE") for rest in ("", " AS SELECT")
)
REWINDS = REPLACES | {"RESTORE", "CLONE"}


def makes_anew(commit: Commit) -> bool:
    """Whether none of the rows before it stay, and columns may be others of the same names."""
    if commit.operation in REPLACES | {"CLONE"}:
        return True
    told = commit.info.get("operationParameters") or {}
    overwrites = commit.operation == "WRITE" and told.get("mode") == "Overwrite"
    return overwrites and commit.metadata is not None and told.get("predicate", "[]") == "[]"


def restored_version(log: TableLog, commit: Commit) -> int:
    """The version that a RESTORE commit restored. A RESTORE to a time tells that in the time zone of whoever ran it,
    which is not told: it is the version of that time by this process's zone, if it had the files that were restored,
    and else the newest that had them.

    Raises OffsetUnknown where no version whose commits are still there had them.
    """
    version = commit.info["operationParameters"].get("version")
    if version is not None:
        return int(version)
    known = range(log.earliest_version() - 1, commit.version)
    for one in (_by_our_zone(log, commit), *reversed(known)):
        if one in known and file_changes(log.commits(one, commit.version)).shape == EMPTY:
            return one
    raise OffsetUnknown(
        f"table {log.name}: which version its version {commit.version} restored cannot be told: a RESTORE to the time "
        f"{commit.info['operationParameters']['timestamp']}, in the time zone of whoever ran it, to files that no "
        f"version in its log had. RESTORE TABLE {log.name} TO VERSION AS OF a number says it."
    )


def _by_our_zone(log: TableLog, commit: Commit) -> int:
    jvm: Any = log.spark._jvm
    when = jvm.java.sql.Timestamp.valueOf(str(commit.info["operationParameters"]["timestamp"]))
    active = log.java.history().getActiveCommitAtTime(when, jvm.scala.Option.empty(), True, False, True)
    return min(int(active.version()), commit.version - 1)
