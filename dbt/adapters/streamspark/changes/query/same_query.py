"""Whether Spark reads two texts as one query."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame

from dbt.adapters.streamspark.errors import InvalidQuery

CANNOT_PLAN = "Spark cannot plan the query"


def same_query(frame: DataFrame, text: str) -> bool:
    """Whether `text` is the query of `frame`. Raises InvalidQuery for what Spark cannot optimize."""
    try:
        again = frame.sparkSession.sql(text)
    except (AnalysisException, ParseException):
        return False
    ours, theirs = (f._jdf.queryExecution() for f in (frame, again))
    if ours.analyzed().sameResult(theirs.analyzed()):
        return True
    try:
        return bool(ours.optimizedPlan().sameResult(theirs.optimizedPlan()))
    except Py4JJavaError as error:  # Spark 4.2 has queries that it analyses and cannot optimize
        raise InvalidQuery(f"{CANNOT_PLAN}: {error.java_exception}") from error
