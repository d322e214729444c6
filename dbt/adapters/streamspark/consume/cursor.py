"""Where a consumer stands: resolved from the log of its own target, newest commit first.

A RESTORE means: go on from the restored version. A CLONE means: go on in the clone's source. What the log
cannot tell any more is an error, never a start from zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import Commit, TableLog
from dbt.adapters.streamspark.changes.rewinds import REPLACES, REWINDS, restored_version
from dbt.adapters.streamspark.consume.costs import Costs
from dbt.adapters.streamspark.consume.made import Made
from dbt.adapters.streamspark.consume.user_metadata import Consumed, read
from dbt.adapters.streamspark.errors import InvalidQuery, MissingSource, OffsetUnknown, StaleSource
from dbt.adapters.streamspark.steps import step


@dataclass(frozen=True)
class Cursor:
    """What a consumer has consumed so far.

    `n` is the newest number stored in the target (0: never), `frontiers` maps stream id to the frontier
    reached, empty when the target holds no consumption (also after a RESTORE to before the first one).
    `timestamp` is the time of the commit that holds the frontiers, `version` that commit's version in the
    target (None when it is in the log of the table that the target was cloned from). `seen` is the
    target's newest version at that time (None: no target). `queries` maps stream id to the text that was read.
    `costs` are those of the runs up to there, where the model keeps them; `made` is what a differential model's target
    was made from.
    """

    n: int
    frontiers: Mapping[str, Frontier] = field(default_factory=dict)
    version: int | None = None
    timestamp: datetime | None = None
    seen: int | None = None
    queries: Mapping[str, str] = field(default_factory=dict)
    costs: Costs = field(default_factory=Costs)
    made: Made | None = None


def resolve_cursor(log: TableLog | None, consumer: str) -> Cursor:
    """The cursor of `consumer` in the target `log` (refreshed by the caller), None for no target.

    Reads commit files from the newest to the one that holds the cursor; no Spark job, unless the log is
    cleaned away before that. Raises OffsetUnknown, naming target and consumer.
    """
    step("resolve_cursor")
    if log is None:
        return Cursor(0)
    return replace(_Walk(log, consumer, log.version).cursor(), seen=log.version)


class _Walk:
    """One pass over a log from `newest` down. `live` is the newest version that still counts."""

    def __init__(self, log: TableLog, consumer: str, newest: int):
        self.log = log
        self.consumer = consumer
        self.newest = newest
        self.live = newest
        self.stored = 0
        self.replaced_by: Commit | None = None
        self.found: Cursor | None = None

    def cursor(self) -> Cursor:
        for version in range(self.newest, -1, -1):
            try:
                commit = self.log.commit(version)
            except StaleSource as error:
                self._log_ends(version, error)
                break
            self.stored = max(self.stored, commit.txns.get(self.consumer, 0))
            if version <= self.live:
                self._look_at(commit)
            if self.found and self.stored:
                break
        found = self.found or Cursor(0)
        return replace(found, n=max(self.stored, found.n))

    def _look_at(self, commit: Commit) -> None:
        consumed = read(commit, self.consumer)
        if consumed is not None:
            self._consumption(commit, consumed)
        elif self.consumer in commit.txns:
            raise self._unknown(f"its version {commit.version} was written without saying up to where")
        elif commit.operation == "RESTORE":
            self.live = restored_version(self.log, commit)
        elif commit.operation == "CLONE":
            self._cloned(commit)
        elif commit.operation in REPLACES:
            self.replaced_by = self.replaced_by or commit

    def _consumption(self, commit: Commit, consumed: Consumed) -> None:
        if self.replaced_by is not None:
            raise self._unknown(
                f"the table was replaced at version {self.replaced_by.version} "
                f"({self.replaced_by.operation}, {self.replaced_by.timestamp:%Y-%m-%d %H:%M:%S} UTC) by something "
                f"else than this consumer, so the rows consumed up to version {commit.version} are gone"
            )
        between = self._rewound(consumed.seen, commit.version)
        if between is not None:
            raise self._unknown(
                f"a {between.operation} (version {between.version}) came between the planning and the commit "
                f"(version {commit.version}) of its newest consumption, so rows are missing in it"
            )
        costs = Costs() if consumed.begun is None else consumed.begun.ended(commit.timestamp)
        self._take(
            Cursor(
                consumed.n,
                consumed.frontiers,
                commit.version,
                commit.timestamp,
                queries=consumed.queries,
                costs=costs,
                made=consumed.made,
            )
        )

    def _rewound(self, seen: int | None, before: int) -> Commit | None:
        try:
            return rewound(self.log, seen, before)
        except StaleSource as error:
            why = f"its log is cleaned away between the planning (version {seen}) and the commit (version {before})"
            raise self._unknown(f"{why} of its newest consumption, so a RESTORE may have come between") from error

    def _take(self, cursor: Cursor) -> None:
        self.found = cursor
        self.live = -1

    def _cloned(self, commit: Commit) -> None:
        source, version = _clone_source(commit)
        origin = self._cursor_in(source, version, commit) if version >= 0 else Cursor(0)
        if origin.frontiers:
            self._take(replace(origin, version=None))
        else:
            self.replaced_by = self.replaced_by or commit

    def _cursor_in(self, source: str, version: int, clone: Commit) -> Cursor:
        """The cursor in the table that the target was cloned from. Identity is checked by time: a table
        made again under the same name has a younger commit of that version."""
        try:
            log = TableLog(self.log.spark, source)
            remade = version > log.version or log.commit(version).timestamp > clone.timestamp
        except (InvalidQuery, MissingSource, StaleSource, PySparkException, Py4JJavaError) as error:
            raise self._unknown(f"it is a clone of {source}, which cannot be read any more") from error
        if remade:
            raise self._unknown(f"it is a clone of {source} at version {version}, which was made again since")
        return _Walk(log, self.consumer, version).cursor()

    def _log_ends(self, version: int, error: StaleSource) -> None:
        """The log is cleaned away from `version` down; only the transaction itself outlives that."""
        self.stored = self.stored or self.log.transactions().get(self.consumer, 0)
        if self.stored and self.found is None:
            raise self._unknown(f"its log is cleaned away up to version {version}") from error

    def _unknown(self, why: str) -> OffsetUnknown:
        stored = f" (newest number stored: {self.stored})" if self.stored else ""
        return OffsetUnknown(
            f"table {self.log.name}: up to where {self.consumer} consumed into it is unknown{stored}: {why}. Run "
            f"the model with --full-refresh, or RESTORE TABLE {self.log.name} to a version that a consumption "
            "committed and that is still in its log."
        )


def rewound(log: TableLog, seen: int | None, before: int) -> Commit | None:
    """The newest commit in (seen, before) that took the table to another state than the one seen, if any. Raises
    StaleSource when one of them is cleaned away: whoever committed at `before` may have died before it looked."""
    for version in range(before - 1, before - 1 if seen is None else seen, -1):
        commit = log.commit(version)
        if commit.operation in REWINDS:
            return commit
    return None


def _clone_source(commit: Commit) -> tuple[str, int]:
    parameters = commit.info["operationParameters"]
    version = parameters.get("sourceVersion")
    return str(parameters.get("source", "")), -1 if version is None else int(version)
