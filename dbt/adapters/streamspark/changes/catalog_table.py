"""What the session's catalog keeps of a table or view, asked without a statement, which takes ten times as long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import SESSION_CATALOG
from dbt.adapters.streamspark.java_names import java_names

NOT_FOUND = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")


def catalog_table(spark: SparkSession, parts: Sequence[str]) -> Any | None:
    """Spark's CatalogTable of `parts`, a name with or without its schema, or both and the session catalog, without
    quotes; a temporary view first. None where there is none, and for names of other catalogs."""
    own = parts[1:] if len(parts) == 3 and parts[0].lower() == SESSION_CATALOG else parts
    if len(own) > 2:
        return None
    jvm = java_names(spark)
    database = jvm.scala.Option.apply(own[0] if len(own) == 2 else None)
    identifier = jvm.org.apache.spark.sql.catalyst.TableIdentifier(own[-1], database)
    try:
        return spark._jsparkSession.sessionState().catalog().getTempViewOrPermanentTableMetadata(identifier)
    except AnalysisException as error:
        if error.getCondition() in NOT_FOUND:
            return None
        raise


def is_view(metadata: Any) -> bool:
    """Whether a CatalogTable is one of a view."""
    return str(metadata.tableType().name()) == "VIEW"
