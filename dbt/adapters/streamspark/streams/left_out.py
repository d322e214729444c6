"""How many rows a new consumer never gets, because they are older than the stream."""

from __future__ import annotations

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.log import TableLog


def rows_at(log: TableLog, version: int) -> int | None:
    """Rows of the table at `version` by its files' statistics, None where they do not tell. One small Spark job."""
    files = DataFrame(log.snapshot(version).allFiles().toDF(), log.spark)
    written = "cast(get_json_object(stats, '$.numRecords') as bigint)"
    live = f"sum({written} - coalesce(deletionVector.cardinality, 0))"
    row = files.selectExpr(f"{live} as live", f"count_if({written} is null) as unknown").first()
    if row is None or row["unknown"]:
        return None
    return int(row["live"] or 0)
