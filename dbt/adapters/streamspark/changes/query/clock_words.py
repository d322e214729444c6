"""Texts that Spark reads as a time of its own clock where a date or a timestamp is wanted: `timestamp'now'`,
`at < 'today'`. Whether one is read so, Spark's own rule says: as a text it is a text like others."""

from __future__ import annotations

import re
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from dbt.adapters.streamspark.changes.query.functions import function_name
from dbt.adapters.streamspark.changes.query.not_covered import Node, place
from dbt.adapters.streamspark.changes.query.plans import plans, rewritten
from dbt.adapters.streamspark.errors import UnsupportedQuery

_WORDS = re.compile(
    r"\s*(now|(today|tomorrow|yesterday)([^a-z].*)?)\s*", re.IGNORECASE | re.DOTALL
)  # maybe with a zone
_TIMES = (exp.DataType.Type.TIME, exp.DataType.Type.TIMETZ, exp.DataType.Type.DATE)
_TO_TIMESTAMP = ("to_timestamp", "to_timestamp_ltz", "to_timestamp_ntz", "try_to_timestamp")
_TIME_OF_DAY = re.compile(r"\s*T?\d{1,2}:\d{1,2}(:.*)?\s*", re.DOTALL)  # which as a timestamp is today's


def is_clock_word(part: Node) -> bool:
    """Whether the part is a text which may be read as a time that moves; 'epoch' does not."""
    return _is_text(part) and _WORDS.fullmatch(part.name) is not None


def clock_text(part: Node) -> Node | None:
    """Such a text written as a date or a timestamp, which the parser makes a time at once, or a time of day written as
    a timestamp; None where the part is neither."""
    if function_name(part) in _TO_TIMESTAMP:
        return part.expressions[0] if len(part.expressions) == 1 and _is_time_of_day(part.expressions[0]) else None
    if not isinstance(part, exp.Cast) or part.to.this not in exp.DataType.TEMPORAL_TYPES:
        return None
    moves = is_clock_word(part.this) or (_is_time_of_day(part.this) and part.to.this not in _TIMES)
    return part.this if moves else None


def _is_time_of_day(part: Node) -> bool:
    return _is_text(part) and _TIME_OF_DAY.fullmatch(part.name) is not None


def _is_text(part: Node) -> bool:
    return isinstance(part, exp.RawString) or (isinstance(part, exp.Literal) and part.is_string)


def refuse_clock_word(word: Node) -> None:
    """Raises UnsupportedQuery."""
    raise UnsupportedQuery(
        f"{word.sql('spark')} as a time is another one each time it is asked, so that its changes cannot be told: "
        f"{place(word.parent or word)}. Write current_timestamp() or current_date() for it."
    )


def refuse_clock_words(frame: DataFrame, query: Node) -> None:
    """Raises UnsupportedQuery where Spark, in the query that `frame` is of, reads a text as a time that moves."""
    words = [part for part in query.find_all(exp.Literal, exp.RawString) if is_clock_word(part)]
    if words and any(_has_times(frame.sparkSession, plan) for plan in plans(frame)):
        refuse_clock_word(words[0])


def _has_times(spark: SparkSession, plan: Any) -> bool:
    """Whether the optimizer would find such texts, once each function is what Spark puts for it."""
    written_out = rewritten(spark, "ReplaceExpressions", plan)
    return not rewritten(spark, "SpecialDatetimeValues", written_out).fastEquals(written_out)
