"""A predicate that a user wrote in a config: one whole expression, that stays one wherever it is put."""

from __future__ import annotations

from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.errors import InvalidQuery


def predicate(spark: SparkSession, text: str, key: str) -> str:
    """`text` in parentheses of its own. Raises InvalidQuery, which names the config `key`, where Spark reads it as
    anything else than one expression."""
    parser: Any = spark._jsparkSession.sessionState().sqlParser()
    try:
        parser.parseExpression(text)
        parser.parseExpression(whole := f"({text}\n)")  # a comment at the end takes no parenthesis with it
    except PySparkException as error:
        said = str(error).strip().splitlines()[0]
        raise InvalidQuery(f"{key} = {text!r} is no SQL expression: {said}") from error
    return whole
