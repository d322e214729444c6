"""How many rows a statement changed. UPDATE, DELETE and MERGE answer that themselves, INSERT and CTAS do not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame

RESULT_COLUMNS = {
    "num_affected_rows": "affected",
    "num_inserted_rows": "inserted",
    "num_updated_rows": "updated",
    "num_deleted_rows": "deleted",
}
INSERTS = ("AppendDataExecV1", "OverwriteByExpressionExecV1")
CREATES = ("AtomicCreateTableAsSelectExec", "AtomicReplaceTableAsSelectExec")


def row_counts(frame: DataFrame, rows: Sequence[Sequence[Any]]) -> dict[str, int]:
    """affected, inserted, updated, deleted: those that are known of the statement that gave `frame` and `rows`."""
    names = frame.columns
    if names:
        return counts_of_result(names, rows)
    try:
        inserted = _inserted(frame)
    except Py4JError:  # the statement has committed: a number that cannot be had must not fail it
        inserted = None
    return {} if inserted is None else {"affected": inserted, "inserted": inserted}


def counts_of_result(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, int]:
    """The counts in a DML statement's result, {} for the result of a query.

    >>> counts_of_result(["num_affected_rows", "num_inserted_rows"], [(3, 2)])
    {'affected': 3, 'inserted': 2}
    >>> counts_of_result(["id"], [(3,)])
    {}
    """
    if len(rows) != 1 or not set(names) <= set(RESULT_COLUMNS):
        return {}
    pairs = zip(names, rows[0], strict=True)
    return {RESULT_COLUMNS[name]: int(value) for name, value in pairs if value is not None}


def _inserted(frame: DataFrame) -> int | None:
    """The rows of the newest commit of the Delta table that an INSERT or CTAS wrote; None for other commands.

    A writer that commits in between is counted instead: dbt shows the number and decides nothing by it.
    """
    plan: Any = frame._jdf.queryExecution().executedPlan()
    if plan.getClass().getSimpleName() != "CommandResultExec":
        return None
    table = _written_table(plan.commandPhysicalPlan())
    if table is None or table.getClass().getSimpleName() != "DeltaTableV2":
        return None
    value = _newest_metrics(table.deltaLog(), frame.sparkSession).get("numOutputRows")
    return None if value is None else int(value)


def _written_table(command: Any) -> Any:
    kind = command.getClass().getSimpleName()
    if kind in INSERTS:
        return command.table()
    return command.catalog().loadTable(command.ident()) if kind in CREATES else None


def _newest_metrics(log: Any, spark: Any) -> dict[str, str]:
    version = log.unsafeVolatileSnapshot().version()
    path = spark._jvm.org.apache.hadoop.fs.Path(log.logPath(), f"{version:020d}.json")
    lines = log.store().read(path, spark._jsparkSession.sessionState().newHadoopConf())
    actions = (json.loads(line) for line in lines.mkString("\n").splitlines())
    infos = (action["commitInfo"] for action in actions if "commitInfo" in action)
    info: dict[str, Any] = next(infos, {})
    return info.get("operationMetrics") or {}
