"""How many rows a new consumer never gets, because they are older than the stream."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.log import TableLog


def rows_at(log: TableLog, version: int) -> int | None:
    """Rows of the table at `version` by its files' statistics, None where they do not tell. One small Spark job."""
    files = log.snapshot(version).allFiles().toDF()
    written = "cast(get_json_object(stats, '$.numRecords') as bigint)"
    live = f"sum({written} - coalesce(deletionVector.cardinality, 0))"
    counted = files.selectExpr([f"{live} as live", f"count_if({written} is null) as unknown"])
    row = counted.first()
    if int(row.getLong(1)) > 0:
        return None
    return 0 if row.isNullAt(0) else int(row.getLong(0))
