"""The statements of a consumption: which are refused, and how they look after planning again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.target import TRANSACTION_RETENTION
from dbt.adapters.streamspark.errors import ConsumptionRefused, Fenced

CREATES = frozenset({"CreateTableAsSelect", "ReplaceTableAsSelect"})
COMMITS_ALWAYS = CREATES | {
    "InsertIntoStatement",
    "OverwriteByExpression",
    "OverwritePartitionsDynamic",
    "MergeIntoTable",
    "UpdateTable",
}
WRITES = COMMITS_ALWAYS | {
    "DeleteFromTable",
    "TruncateTable",
    "CreateTable",
    "ReplaceTable",
    "RestoreTableStatement",
    "CloneTableStatement",
}


def kind(spark: SparkSession, sql: str) -> str:
    """The name of Spark's plan for a statement (InsertIntoStatement ...), looking behind a WITH clause."""
    plan: Any = spark._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    name = str(plan.getClass().getSimpleName())
    return str(plan.child().getClass().getSimpleName()) if name == "UnresolvedWith" else name


def check(spark: SparkSession, consumption: Consumption, statements: Sequence[str]) -> None:
    """Raises ConsumptionRefused unless `statements` is any number of preparations and then one write that
    always commits when it runs under a transaction."""
    if not statements:
        raise _refused(consumption, "there is no statement to run")
    for sql in statements[:-1]:
        if kind(spark, sql) in WRITES:
            raise _refused(consumption, f"it writes more than once, and only one write can be atomic: {_short(sql)}")
    _check_write(spark, consumption, statements[-1])


def _check_write(spark: SparkSession, consumption: Consumption, sql: str) -> None:
    found = kind(spark, sql)
    if found == "DeleteFromTable":
        raise _refused(
            consumption,
            "Delta commits nothing for a DELETE that matches no row, so the offset would not move. "
            "Use MERGE INTO ... WHEN MATCHED THEN DELETE",
        )
    if found not in COMMITS_ALWAYS:
        raise _refused(
            consumption,
            f"its last statement must be one INSERT, MERGE, UPDATE or CREATE TABLE AS: {_short(sql)}",
        )
    if found in CREATES:
        _check_created(spark, consumption, sql)


def _check_created(spark: SparkSession, consumption: Consumption, sql: str) -> None:
    name = TRANSACTION_RETENTION.removeprefix("delta.")
    default = spark.conf.get(f"spark.databricks.delta.properties.defaults.{name}", None)
    if default is not None or name.lower() in sql.lower():
        raise _refused(consumption, f"the table would get {TRANSACTION_RETENTION}, and forget what it consumed")


def plan_again(spark: SparkSession, statements: Sequence[str], old: Consumption, new: Consumption) -> list[str]:
    """The statements with each interval of `old` replaced by the same stream's interval of `new`.

    Raises Fenced where that would not be the same model any more: a rebuild that another run made first,
    a stream that is gone from the plan, or a statement that does not hold the interval's text.
    """
    rebuilds = kind(spark, statements[-1]) in CREATES and (old.rebuild or old.n == 1)
    if rebuilds and old.starts() != new.starts():
        raise Fenced(f"another run made table {old.target} at the same time. Run the model again.")
    texts = _new_texts(statements, old, new)
    if not texts:
        return list(statements)
    pattern = re.compile("|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True)))
    return [pattern.sub(lambda match: texts[match.group()], sql) for sql in statements]


def _new_texts(statements: Sequence[str], old: Consumption, new: Consumption) -> dict[str, str]:
    """Old interval text -> new one, for the streams whose interval is another now."""
    fresh = {read.stream_id: read for read in new.reads}
    texts: dict[str, str] = {}
    for read in old.reads:
        again = fresh.get(read.stream_id)
        if again is None or not any(read.sql in sql for sql in statements):
            raise Fenced(
                f"another run consumed into {old.target} first, and this run's statements cannot be planned "
                f"again, as they do not hold {_short(read.sql)}. Run the model again."
            )
        texts |= {read.sql: again.sql, read.within: again.within}
    return {text: again for text, again in texts.items() if text and text != again}


def _refused(consumption: Consumption, why: str) -> ConsumptionRefused:
    streams = ", ".join(read.stream for read in consumption.reads)
    return ConsumptionRefused(f"{consumption.consumer} cannot consume {streams} into {consumption.target}: {why}.")


def _short(sql: str) -> str:
    text = " ".join(sql.split())
    return text if len(text) <= 80 else text[:77] + "..."
