"""The points between which changes are asked for, as one version per base table (docs/reference/python.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import TypeAlias

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import InvalidInterval, StaleSource
from dbt.adapters.streamspark.literals import literal

Point: TypeAlias = "int | str | datetime | Frontier | Mapping[str, int | str | datetime] | None"


def resolve_end(logs: Sequence[TableLog], point: Point) -> Frontier:
    """The frontier that `point` means for the tables of `logs` (refreshed).

    A version means the one table there is; a time (text or datetime) the newest commit of each table up to it; a
    mapping gives a version or time by table name, and may name tables that the query does not read; None is now.
    Raises InvalidInterval, which names the table.
    """
    versions = [_version(log, _point_of(log, logs, point)) for log in logs]
    return all_together([_known_frontier(log, version) for log, version in zip(logs, versions, strict=True)])


def frontier_of(log: TableLog, version: int) -> Frontier:
    """One table at a version, with the time and identity of that commit. Raises StaleSource."""
    commit = log.commit(version)
    return Frontier.of(TableVersion(log.table_id, log.name, version, commit.identity), timestamp=commit.timestamp)


def _known_frontier(log: TableLog, version: int) -> Frontier:
    """The same as far as the log still tells it."""
    try:
        return frontier_of(log, version)
    except StaleSource:
        milliseconds = int(log.snapshot(version).timestamp())
        moment = datetime.fromtimestamp(milliseconds / 1000, tz=timezone.utc)
        return Frontier.of(TableVersion(log.table_id, log.name, version), timestamp=moment)


def all_together(taken: Sequence[Frontier]) -> Frontier:
    """Frontiers of single tables as one, with the newest of their times."""
    newest = max((one.timestamp for one in taken), default=datetime.fromtimestamp(0, tz=timezone.utc))
    return Frontier.of(*(table for one in taken for table in one.tables), timestamp=newest)


def _point_of(log: TableLog, logs: Sequence[TableLog], point: Point) -> int | str | datetime | None:
    """What `point` says of one table."""
    if isinstance(point, Frontier):
        return _in_frontier(log, point)
    if isinstance(point, Mapping):
        return _in_mapping(log, point)
    if isinstance(point, int) and len(logs) != 1:
        names = ", ".join(sorted(other.name for other in logs)) or "none"
        raise InvalidInterval(
            f"version {point} means nothing for a query on several tables ({names}): give a version for each, as in "
            "{'db.orders': 3, 'db.customers': 9}, or a timestamp"
        )
    return point


def _in_frontier(log: TableLog, frontier: Frontier) -> int:
    """By the table's id or, as CREATE OR REPLACE gives a new one, by the identity of the commit."""
    for table in frontier.tables:
        if table.table_id == log.table_id or _is_commit_of(log, table):
            return table.version
    raise InvalidInterval(
        f"the frontier holds no version of table {log.name}, only of "
        f"{', '.join(sorted(table.name for table in frontier.tables)) or 'no table'}"
    )


def _is_commit_of(log: TableLog, table: TableVersion) -> bool:
    if not table.commit or table.version > log.version:
        return False
    try:
        return log.commit(table.version).identity == table.commit
    except StaleSource:
        return False


def _in_mapping(log: TableLog, versions: Mapping[str, int | str | datetime]) -> int | str | datetime:
    for name, version in versions.items():
        if is_called(log, name):
            return version
    raise InvalidInterval(
        f"no version is given for table {log.name}, which the query reads; given are those of "
        f"{', '.join(sorted(versions)) or 'no table'}"
    )


def is_called(log: TableLog, name: str) -> bool:
    """Whether a table may be meant by a name: its own, without its catalog or schema, or its id."""
    own = log.name.replace("`", "").lower().split(".")
    wanted = name.replace("`", "").lower().removeprefix("spark_catalog.").split(".")
    return name == log.table_id or own == wanted or own[-len(wanted) :] == wanted


def _version(log: TableLog, point: int | str | datetime | None) -> int:
    if point is None:
        return log.version
    if isinstance(point, int):
        return _checked(log, point)
    if not isinstance(point, str | datetime):
        raise InvalidInterval(
            f"{point!r} is no point in the history of table {log.name}: give a version or a timestamp"
        )
    return _version_at(log, _moment(log, point))


def _checked(log: TableLog, version: int) -> int:
    if version < 0 or version > log.version:
        raise InvalidInterval(f"table {log.name} has no version {version}: it has versions 0 to {log.version}")
    return version


def version_at(log: TableLog, moment: datetime, before: bool = False) -> int | None:
    """The newest version committed at or before `moment` (aware; `before`: only before it), looked for from the
    newest on; None where the log begins later."""
    for version in range(log.version, log.earliest_version() - 1, -1):
        committed = log.commit(version).timestamp
        if committed < moment or (committed == moment and not before):
            return version
    return None


def _version_at(log: TableLog, moment: datetime) -> int:
    if moment > datetime.now(timezone.utc):
        raise InvalidInterval(f"{moment.isoformat(sep=' ')} has not come yet; table {log.name} is at {log.version}")
    version = version_at(log, moment)
    if version is not None:
        return version
    oldest = log.earliest_version()
    begin = log.commit(oldest).timestamp
    raise InvalidInterval(
        f"the log of table {log.name} begins after {moment.isoformat(sep=' ')}: with version {oldest} at "
        f"{begin.isoformat(sep=' ')}"
    )


def _moment(log: TableLog, point: str | datetime) -> datetime:
    """A time without zone is one of the session's time zone."""
    if isinstance(point, datetime) and point.tzinfo is not None:
        return point
    text = point.isoformat(sep=" ") if isinstance(point, datetime) else point
    moment = moment_of(log.spark, text)
    if moment is None:
        raise InvalidInterval(f"{text!r} is no time. Write it like '2026-01-31 12:00:00'.")
    return moment


def moment_of(spark: SparkSession, text: str) -> datetime | None:
    """The time that Spark reads in a text, None where it is none."""
    row = spark.sql(f"select unix_micros(try_cast({literal(text)} as timestamp))").first()
    return None if row is None or row[0] is None else datetime.fromtimestamp(row[0] / 1_000_000, tz=timezone.utc)
