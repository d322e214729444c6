"""The state of a target's log, computed while a run plans what to write: Delta's commit asks for it, to give new rows
their ids or to see what was consumed, and it is a Spark job of a quarter of a second (docs/decisions/0036)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from dbt.adapters.streamspark.changes.log import TableLog

_worker = ThreadPoolExecutor(1, thread_name_prefix="streamspark-state")


def state_ahead(log: TableLog) -> None:
    """Begins to compute the state of the newest snapshot, which the commit finds in Delta's cache of logs. Where that
    fails nothing is said: the commit asks again, and says it."""
    _worker.submit(_compute, log)


def _compute(log: TableLog) -> None:
    # Delta asks for the JVM thread's active session.
    log._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(log._jspark)
    log.snapshot().domainMetadata()
