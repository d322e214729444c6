"""What functions made with CREATE FUNCTION do, in short, so that one that was made anew is told from what it was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.query.expanded import parse_query
from dbt.adapters.streamspark.changes.query.user_functions import user_functions
from dbt.adapters.streamspark.errors import InvalidQuery

_TOLD = ("Type:", "Input:", "Returns:", "Class:", "Body:")
_BODY = "Body:"


def function_definitions(spark: SparkSession, names: Iterable[str]) -> dict[str, str]:
    """A checksum for each of the functions, by its name, and for those in the SQL of these. One registered by Python is
    known by its name alone."""
    found: dict[str, str] = {}
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            lines = _lines(spark, name)
            found[name] = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]
            left += [inner for line in lines if line.startswith(_BODY) for inner in _called(spark, line)]
    return found


def _lines(spark: SparkSession, name: str) -> list[str]:
    try:
        rows = spark.sql(f"describe function extended {name}").collect()
    except AnalysisException:  # in the SQL of a view or a function, whose schema is another one than the session's
        return []
    return [row[0] for row in rows if row[0].startswith(_TOLD) and "$$Lambda" not in row[0]]


def _called(spark: SparkSession, body: str) -> tuple[str, ...]:
    try:
        return user_functions(spark, parse_query(f"select ({body.removeprefix(_BODY)})"))
    except InvalidQuery:  # what the parser cannot read calls nothing that it would find
        return ()
