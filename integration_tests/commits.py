"""What a Delta table's own history says about the commits of a round."""

from pyspark.sql import Row, SparkSession


def newest_version(spark: SparkSession, table: str) -> int:
    """-1 for a table that is not there yet."""
    if not spark.catalog.tableExists(table):
        return -1
    return spark.sql(f"describe history {table} limit 1").head()["version"]


def rows_written(spark: SparkSession, table: str, after: int) -> str:
    """The rows that commits after version `after` inserted (+), updated (~) and deleted (-)."""
    history = spark.sql(f"describe history {table}").where(f"version > {after}").collect()
    return " / ".join(_rows_of(commit) for commit in reversed(history)) or "no commit"


def _rows_of(commit: Row) -> str:
    metrics = {name: int(value) for name, value in commit["operationMetrics"].items() if value.isdigit()}
    if commit["operation"] != "MERGE":
        copied = metrics.get("numCopiedRows", 0)  # rows of a rewritten file that REPLACE WHERE leaves alone
        metrics = {"numTargetRowsInserted": metrics.get("numOutputRows", 0) - copied}
    kinds = (("+", "Inserted"), ("~", "Updated"), ("-", "Deleted"))
    counts = ((sign, metrics.get(f"numTargetRows{kind}", 0)) for sign, kind in kinds)
    return " ".join(f"{sign}{count:,}" for sign, count in counts if count) or "0"
