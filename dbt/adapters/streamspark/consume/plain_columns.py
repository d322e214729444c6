"""Which tables get the values of their columns from what is written into them, and from nowhere else."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.log import TableLog

# What Delta's own statements mind: values that a column makes itself, its declared length, ids that Iceberg's readers
# look for.
OTHER_COLUMNS = ("delta.generationExpression", "delta.identity.", "CURRENT_DEFAULT", "__CHAR_VARCHAR_TYPE_STRING")
ICEBERG_IDS = "delta.enableIcebergCompatV3"


def plain_columns(log: TableLog) -> bool:
    """Whether the table, as `log` holds it, is one of them."""
    fields = str(log.snapshot().metadata().schemaString())
    return not any(f'"{mark}' in fields for mark in OTHER_COLUMNS) and not is_on(log, ICEBERG_IDS)


def is_on(log: TableLog, name: str) -> bool:
    """Whether a property of the table is `true`."""
    return log.properties.get(name, "").lower() == "true"
