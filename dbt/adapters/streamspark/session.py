"""The Spark sessions this adapter runs its statements in: one, isolated, per thread. No dbt import."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.launch import LaunchOptions
from dbt.adapters.streamspark.literals import bind
from dbt.adapters.streamspark.row_counts import row_counts
from dbt.adapters.streamspark.spark_errors import as_sql_error
from dbt.adapters.streamspark.steps import step

Description = list[tuple[str, str, None, None, None, None, bool]]
_lock = threading.Lock()
_threads = threading.local()


@dataclass
class Result:
    """What a statement gave: `columns` as (name, Spark type, …, nullable), and rows that fetching uses up.

    `row_counts` holds affected, inserted, updated, deleted, as far as known.
    """

    columns: Description = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    row_counts: dict[str, int] = field(default_factory=dict)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.fetchmany(len(self.rows))

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        taken, self.rows = self.rows[:size], self.rows[size:]
        return taken

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(iter(self.fetchmany(1)), None)


class Session:
    """The current thread's isolated Spark session: its own confs, temporary views and current schema."""

    def __init__(self, spark: SparkSession):
        self.spark = spark

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> Result:
        """Runs `sql` to its end, a query too, with `%s` filled from `bindings`.

        Raises SqlError, or ConflictError when another writer committed first.
        """
        text = sql.strip().removesuffix(";")
        if bindings is not None:
            text = bind(text, list(bindings))
        step("statement")
        try:
            frame = self.spark.sql(text)
            rows = [tuple(row) for row in frame.collect()]
            return Result(_description(frame), rows, row_counts(frame, rows))
        except (PySparkException, Py4JError) as error:
            raise as_sql_error(error) from error

    def cancel(self) -> None:
        """Interrupts whatever this session runs; its statement then raises SqlError."""
        self.spark.interruptAll()


def _description(frame: DataFrame) -> Description:
    fields = frame.schema.fields
    return [(f.name, f.dataType.simpleString(), None, None, None, None, f.nullable) for f in fields]


def thread_session(options: LaunchOptions, notify: Callable[[str], None] = print) -> Session:
    """This thread's session, made at its first use.

    Spark is started with `options` unless it runs in this process already; then only the confs of
    `options.spark_config` that a running session can take are set. Raises LaunchError.
    """
    with _lock:
        base = launch.running_session() or launch.start(options, notify)
    known: Session | None = getattr(_threads, "session", None)
    if known is None or known.spark._sc is not base._sc:
        known = _threads.session = Session(isolated(base, options.spark_config))
    return known


def isolated(base: SparkSession, spark_config: Mapping[str, str]) -> SparkSession:
    """A session that shares `base`'s catalog and cached data, and nothing else."""
    session = base.newSession()
    # the view of an append-only stream reads Spark's own CHANGES, which Delta keeps behind this switch
    settings = {
        "spark.sql.sources.default": "delta",
        "spark.databricks.delta.changelogV2.enabled": "true",
        # `${env:NAME}` in a model, a column's name or a comment is text, and no way to the environment
        "spark.sql.variable.substitute": "false",
        **spark_config,
    }
    for key, value in settings.items():
        if session.conf.isModifiable(key):
            session.conf.set(key, value)
    jvm: Any = base._jvm
    jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(session._jsparkSession)
    return session
