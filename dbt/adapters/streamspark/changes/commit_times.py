"""Commit version -> commit time, as SQL: one folded array, looked up by position."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Protocol

from dbt.adapters.streamspark.changes.log import Commit, TableLog
from dbt.adapters.streamspark.changes.log_sql import commit_times_sql, lookup_sql

_KNOWN: dict[tuple[str, str, int], int] = {}


@dataclass(frozen=True)
class CommitTimes:
    """Times of the versions from `first` on, in microseconds since the epoch; None where the commit is gone."""

    first: int
    microseconds: tuple[int | None, ...]

    def sql(self, version: str) -> str:
        """The time (TIMESTAMP, NULL when unknown) of the commit that the SQL expression `version` names."""
        array = f"from_json('{json.dumps(self.microseconds)}', 'array<bigint>')"
        return f"timestamp_micros(get({array}, cast({version} - {self.first}L as int)))"


@dataclass(frozen=True)
class OneTime:
    """One time for every change: where several tables changed, a change has no commit of its own."""

    moment: datetime

    def sql(self, version: str = "") -> str:
        return f"timestamp_micros({round(self.moment.timestamp() * 1_000_000)}L)"


@dataclass(frozen=True)
class LoggedTimes:
    """The same out of the log's own files, for a view that has no driver to read them (path of the log)."""

    log_path: str

    def sql(self, version: str) -> str:
        """The time at which the commit's file was written; the in-commit time, if any, is not looked at."""
        return lookup_sql("v", "t", commit_times_sql(self.log_path), version)


class Times(Protocol):
    """How a dialect turns a version into a time."""

    def sql(self, version: str) -> str: ...


def commit_times(commits: Sequence[Commit]) -> CommitTimes:
    """The times of an interval's commits, which have been read already."""
    times = {commit.version: _microseconds(commit.timestamp) for commit in commits}
    return _dense(times)


def history_times(log: TableLog, end: int) -> CommitTimes:
    """The times of every commit still in the log up to `end`: images older than the interval name them."""
    times = {version: _time_of(log, version) for version in range(log.earliest_version(), end + 1)}
    return _dense(times)


def _dense(times: Mapping[int, int]) -> CommitTimes:
    if not times:
        return CommitTimes(0, ())
    first, last = min(times), max(times)
    return CommitTimes(first, tuple(times.get(version) for version in range(first, last + 1)))


def _time_of(log: TableLog, version: int) -> int:
    """Commits never change, so each is read once a process."""
    key = (log.table_id, log.path, version)
    if key not in _KNOWN:
        _KNOWN[key] = _microseconds(log.commit(version).timestamp)
    return _KNOWN[key]


def _microseconds(moment: datetime) -> int:
    return round((moment - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds() * 1000) * 1000
