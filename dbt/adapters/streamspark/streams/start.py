"""Where a new stream starts: a version of its base table, from now, a version, a time or another stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timezone

from dbt.adapters.streamspark.changes.ends import all_together, frontier_of, moment_of, version_at
from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import InvalidInterval, InvalidStreamConfig, StaleSource
from dbt.adapters.streamspark.streams.config import StartPoint
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.tracking import is_tracked

Lookup = Callable[[str], StreamDefinition]


def resolve_start(log: TableLog, point: StartPoint, lookup: Lookup, tracked: bool) -> Frontier:
    """The offset that `point` means in the table of `log` (refreshed). `lookup` gives another stream's
    definition by name; `tracked` says that the stream needs row tracking from there on.

    Raises InvalidInterval for a point that the table's log does not reach, InvalidStreamConfig for a text that
    is no time or a stream on another table.
    """
    version = _version(log, point, lookup)
    _check_reachable(log, version, point)
    if tracked and not is_tracked(log, version):
        raise _untracked(log, version, point)
    return frontier_of(log, version)


def resolve_starts(logs: Sequence[TableLog], point: StartPoint, lookup: Lookup) -> Frontier:
    """The same in several tables, all of them tracked. A version means nothing there; another stream's start counts
    where it is on all of the tables, and its time otherwise."""
    if point.by == "version" and len(logs) != 1:
        raise InvalidInterval(
            f"{point}: a version means nothing for a query on {len(logs)} tables "
            f"({', '.join(sorted(log.name for log in logs))}). Give a timestamp, or another stream."
        )
    if point.by == "stream":
        point = _in_time(logs, point, lookup(str(point.value)))
    return all_together([resolve_start(log, point, lookup, tracked=True) for log in logs])


def _in_time(logs: Sequence[TableLog], point: StartPoint, other: StreamDefinition) -> StartPoint:
    if all(_held(log, other) is not None for log in logs):
        return point
    return StartPoint(point.kind, "timestamp", other.start.timestamp.isoformat(sep=" "))


def _version(log: TableLog, point: StartPoint, lookup: Lookup) -> int:
    if point.kind == "now":
        return log.version
    if point.by == "timestamp":
        return _at_time(log, point)
    version = int(point.value) if point.by == "version" else _of_stream(log, lookup(str(point.value)), point)
    return version - (point.kind == "before")


def _of_stream(log: TableLog, other: StreamDefinition, point: StartPoint) -> int:
    base = _held(log, other)
    if base is None:
        names = ", ".join(table.name for table in other.start.tables)
        raise InvalidStreamConfig(
            f"{point.kind} = {{'stream': '{point.value}'}}: that stream is on table {names}, this one on "
            f"{log.name}. Streams share a point in time only when they are on one table."
        )
    return base.version


def _held(log: TableLog, other: StreamDefinition) -> TableVersion | None:
    return next((table for table in other.start.tables if _holds(log, table)), None)


def _holds(log: TableLog, base: TableVersion) -> bool:
    try:
        return base.version <= log.version and log.commit(base.version).identity == base.commit
    except StaleSource:  # the log is cleaned past it: nothing left to compare but the id
        return log.table_id == base.table_id


def _at_time(log: TableLog, point: StartPoint) -> int:
    """The newest version committed at (before: before) the time, looked for from the newest on."""
    moment = _moment(log, str(point.value))
    if moment > datetime.now(timezone.utc):
        raise InvalidInterval(f"{point}: that time has not come yet; the newest version of {log.name} is {log.version}")
    version = version_at(log, moment, before=point.kind == "before")
    if version is not None:
        return version
    oldest = log.earliest_version()
    raise InvalidInterval(
        f"{point}: the log of table {log.name} begins later, with version {oldest} at {_text(log, oldest)}."
    )


def _moment(log: TableLog, text: str) -> datetime:
    moment = moment_of(log.spark, text)
    if moment is None:
        raise InvalidStreamConfig(f"timestamp = {text!r} is no time. Write it like '2026-01-31 12:00:00'.")
    return moment


def _check_reachable(log: TableLog, version: int, point: StartPoint) -> None:
    oldest = log.earliest_version()
    if version > log.version:
        raise InvalidInterval(f"{point}: table {log.name} has no version {version}; its newest is {log.version}.")
    if version < 0:
        raise InvalidInterval(
            f"{point}: table {log.name} begins with version 0. To get the rows of its beginning, set "
            "show_initial_rows: true."
        )
    try:
        log.commit(version)
        log.snapshot(version)
    except StaleSource as error:
        raise InvalidInterval(
            f"{point}: version {version} of table {log.name} is cleaned away; the oldest commit in its log is "
            f"version {oldest} at {_text(log, oldest)}."
        ) from error


def _untracked(log: TableLog, version: int, point: StartPoint) -> InvalidInterval:
    since = next((v for v in range(log.version, version, -1) if not is_tracked(log, v)), version) + 1
    return InvalidInterval(
        f"{point}: table {log.name} has no row tracking at version {version}; it is on since version {since} at "
        f"{_text(log, since)}. Start there or later, or use mode insert_only."
    )


def _text(log: TableLog, version: int) -> str:
    return f"{log.commit(version).timestamp:%Y-%m-%d %H:%M:%S} UTC"
