"""Confs that a view was made with: Spark reads its text by them, and here it is read by the session's."""

from __future__ import annotations

from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.session_confs import session_confs
from dbt.adapters.streamspark.errors import UnsupportedQuery
from dbt.adapters.streamspark.java_names import java_names

# Those by which the same text may become another plan. Others that change results Spark looks at when a plan runs, and
# takes from the session for views too; storeAssignmentPolicy and the like are for statements that write.
CONFS = (
    "spark.sql.ansi.enabled",
    "spark.sql.session.timeZone",
    "spark.sql.caseSensitive",
    "spark.sql.timestampType",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.parser.escapedStringLiterals",
    "spark.sql.ansi.doubleQuotedIdentifiers",
)
THE_SESSIONS = "spark.sql.legacy.useCurrentConfigsForView"


def check_view_confs(spark: SparkSession, metadata: Any) -> None:
    """Raises UnsupportedQuery for a view, a CatalogTable, whose text is another query by the session's confs. Spark
    plans it by both where any of them differs: most views are the same."""
    other = _others(spark, metadata)
    if not other or (not _is_temporary(metadata) and _is_one_plan(spark, metadata)):
        return
    confs = "; ".join(f"{key} = {its}, which is {ours} in this session" for key, its, ours in other)
    raise UnsupportedQuery(
        f"view {metadata.identifier().unquotedString()} was made with {confs}, and may give other rows by that. Set it "
        "in the session as it was, or make the view again with CREATE OR REPLACE VIEW."
    )


def _is_temporary(metadata: Any) -> bool:
    return not metadata.identifier().database().isDefined()


def _others(spark: SparkSession, metadata: Any) -> list[tuple[str, str, str]]:
    """The confs that differ, with the view's value and the session's."""
    views = getattr(java_names(spark).org.apache.spark.sql.catalyst.plans.logical, "View$")
    made = views.effectiveSQLConf(metadata.viewSQLConfigs(), _is_temporary(metadata), metadata.createVersion())
    now = spark._jsparkSession.sessionState().conf()
    values = ((key, str(made.getConfString(key)), str(now.getConfString(key))) for key in CONFS)
    return [(key, its, ours) for key, its, ours in values if its != ours]


def _is_one_plan(spark: SparkSession, metadata: Any) -> bool:
    identifier = metadata.identifier()
    name = ".".join(quoted(str(part)) for part in (identifier.database().get(), identifier.table()))
    try:
        made, now = (_plan(spark, name, by_session) for by_session in ("false", "true"))
    except AnalysisException:
        return False
    return bool(made.sameResult(now))


def _plan(spark: SparkSession, view: str, by_session: str) -> Any:
    """Without casts that do nothing, such as each view has about its columns, and with the WITHs numbered anew."""
    catalyst = java_names(spark).org.apache.spark.sql.catalyst
    with session_confs(spark, {THE_SESSIONS: by_session}):
        plan = spark.table(view)._jdf.queryExecution().analyzed()
    simpler = getattr(catalyst.optimizer, "SimplifyCasts$").apply(plan)
    return getattr(catalyst.normalizer, "NormalizeCTEIds$").apply(simpler)
