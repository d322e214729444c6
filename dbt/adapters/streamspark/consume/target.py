"""The table that a consumption writes to: opened, and refused when it cannot keep the consumption's state."""

from __future__ import annotations

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import ConsumptionRefused, MissingSource

TRANSACTION_RETENTION = "delta.setTransactionRetentionDuration"


def open_target(spark: SparkSession, name: str) -> TableLog | None:
    """The target's log, or None when there is no such table. Raises MissingSource when it is not Delta."""
    if name.startswith("delta.`"):
        return _open_path(spark, name)
    return TableLog(spark, name) if spark.catalog.tableExists(name) else None


def _open_path(spark: SparkSession, name: str) -> TableLog | None:
    try:
        return TableLog(spark, name)
    except MissingSource:  # nothing committed at this path yet
        return None


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
