"""The table that a consumption writes to: opened, and refused when it cannot keep the consumption's state."""

from __future__ import annotations

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.interval import TRACKING
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.readers.cdf import FEED
from dbt.adapters.streamspark.errors import ConsumptionRefused, MissingSource
from dbt.adapters.streamspark.streams.retention import FILE_RETENTION

TRANSACTION_RETENTION = "delta.setTransactionRetentionDuration"


def open_target(spark: SparkSession, name: str) -> TableLog | None:
    """The target's log, or None when there is no such table. Raises MissingSource when it is not Delta."""
    try:
        return TableLog(spark, name)
    except MissingSource:  # of a path: nothing is committed there yet
        if name.startswith("delta.`") or not spark.catalog.tableExists(name):
            return None
        return TableLog(spark, name)  # not Delta, or another run has made it just now


def may_be_followed(log: TableLog | None) -> bool:
    """Whether somebody may read the table's changes, None being none: streams switch row tracking on, those of
    insert_only have removed files kept longer, and others may read a change data feed. Nobody need do so."""
    known = {} if log is None else log.properties
    return "true" in (known.get(TRACKING), known.get(FEED)) or FILE_RETENTION in known


def refuse_target(log: TableLog) -> None:
    """Raises ConsumptionRefused when the table forgets transactions, and so what was consumed into it."""
    duration = log.properties.get(TRANSACTION_RETENTION)
    if duration is not None:
        raise ConsumptionRefused(
            f"table {log.name} has {TRANSACTION_RETENTION} = {duration}: Delta would forget which "
            "consumptions it "
            f"holds, and rows could be consumed twice. Remove it: ALTER TABLE {log.name} UNSET TBLPROPERTIES "
            f"('{TRANSACTION_RETENTION}')."
        )
