"""dbt's connections over our Spark sessions: no more than what dbt asks of a connection."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt_common.events.base_types import EventLevel
from dbt_common.events.functions import fire_event
from dbt_common.events.types import Note
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.streamspark.errors import LaunchError, StreamsparkError
from dbt.adapters.streamspark.session import Description, Result, Session, thread_session
from dbt.adapters.streamspark.spark_errors import ConflictError, SqlError

logger = AdapterLogger("Streamspark")


def say(line: str) -> None:
    """A line that the user sees, without the adapter's name in front."""
    fire_event(Note(msg=line), level=EventLevel.INFO)


class StreamsparkDatabaseError(DbtDatabaseError):
    """A statement failed; `condition` is Spark's or Delta's error class, `state` the SQLSTATE."""

    def __init__(self, error: SqlError):
        super().__init__(str(error))
        self.condition = error.condition
        self.state = error.state


class StreamsparkConflictError(StreamsparkDatabaseError):
    """Another writer committed to the same table first."""


@dataclass
class StreamsparkResponse(AdapterResponse):
    """dbt's response with the rows that a DML statement inserted, updated and deleted, where it tells."""

    rows_inserted: int | None = None
    rows_updated: int | None = None
    rows_deleted: int | None = None


class Cursor:
    """What dbt calls a cursor: runs one statement at a time and hands out its rows."""

    def __init__(self, session: Session):
        self.session = session
        self.result = Result()

    @property
    def description(self) -> Description:
        return self.result.columns

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        self.result = self.session.execute(sql, bindings)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.result.fetchall()

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        return self.result.fetchmany(size)

    def fetchone(self) -> tuple[Any, ...] | None:
        return self.result.fetchone()


class Handle:
    """The open connection of one thread."""

    def __init__(self, session: Session):
        self.session = session

    def cursor(self) -> Cursor:
        return Cursor(self.session)

    def cancel(self) -> None:
        self.session.cancel()

    def close(self) -> None:
        """A thread keeps its session: the next model it runs goes on in it."""

    def rollback(self) -> None:
        """Spark has no transactions over statements: each has committed or failed by now."""


class StreamsparkConnectionManager(SparkConnectionManager):
    TYPE = "streamspark"

    def __init__(self, profile: Any, mp_context: Any):
        super().__init__(profile, mp_context)
        profile.credentials.project_root = getattr(profile, "project_root", None) or os.getcwd()

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            return connection
        credentials: Any = connection.credentials
        try:
            session = thread_session(credentials.launch_options(), say)
        except (LaunchError, SqlError) as error:
            connection.state = ConnectionState.FAIL
            raise FailedToConnectError(str(error)) from error
        connection.handle = Handle(session)
        connection.state = ConnectionState.OPEN
        return connection

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        try:
            yield
        except ConflictError as error:
            raise StreamsparkConflictError(error) from error
        except SqlError as error:
            logger.debug(f"Error while running:\n{sql}")
            raise StreamsparkDatabaseError(error) from error
        except StreamsparkError as error:
            raise DbtRuntimeError(f"{type(error).__name__}: {error}") from error

    def cancel(self, connection: Connection) -> None:
        connection.handle.cancel()

    @classmethod
    def get_response(cls, cursor: Any) -> StreamsparkResponse:
        counts = cursor.result.row_counts if cursor is not None else {}
        return response(counts)


def response(counts: dict[str, int]) -> StreamsparkResponse:
    """dbt's response from row counts by name (affected, inserted, updated, deleted); any may be missing."""
    affected = counts.get("affected")
    return StreamsparkResponse(
        _message="OK" if affected is None else f"OK {affected:,} row{'s' * (affected != 1)}",
        code="OK",
        rows_affected=affected,
        rows_inserted=counts.get("inserted"),
        rows_updated=counts.get("updated"),
        rows_deleted=counts.get("deleted"),
    )
