"""Names that are both a column's and those of functions which need no parentheses: `current_date`. Spark takes the
column where there is one, the parser the function."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from pyspark.sql import DataFrame, SparkSession
from sqlglot import TokenType, exp, tokenize

from dbt.adapters.streamspark.changes.query.functions import BARE
from dbt.adapters.streamspark.changes.query.not_covered import Node
from dbt.adapters.streamspark.changes.query.plans import asks_time
from dbt.adapters.streamspark.changes.query.same_query import same_query
from dbt.adapters.streamspark.errors import UnsupportedQuery

Place = tuple[int, int]
_SAID = re.compile(rf"\b({'|'.join(sorted(BARE))})\b", re.IGNORECASE)
_BEFORE = (TokenType.DOT, TokenType.ALIAS)  # of what is no name by itself


def bare_places(text: str) -> list[Place]:
    """Where the text says such a name without parentheses, from its first to its last character.

    >>> bare_places("select current_date, current_date(), 'current_date', t.current_date, 1 as current_date from t")
    [(7, 18)]
    """
    return list(_places(text)) if _SAID.search(text) else []


def _places(text: str) -> Iterator[Place]:
    tokens = tokenize(f";\n{text}\n;", read="spark")
    for (before, token), (_, after) in pairwise(pairwise(tokens)):
        start, end = token.start - 2, token.end - 2
        is_alone = before.token_type not in _BEFORE and after.token_type != TokenType.L_PAREN
        if is_alone and text[start : end + 1].lower() in BARE:
            yield start, end


def settled(frame: DataFrame, text: str, places: Collection[Place]) -> str:
    """The text of `frame`'s query with these names as functions where they are all that, else as columns. (Spark takes
    a name in backticks, too, for the function where there is no column.)"""
    called = _around(text, places, "", "()")
    return called if same_query(frame, called) else _around(text, places, "`", "`")


def _around(text: str, places: Collection[Place], before: str, after: str) -> str:
    for start, end in sorted(places, reverse=True):
        text = f"{text[:start]}{before}{text[start : end + 1]}{after}{text[end + 1 :]}"
    return text


def refuse_bare_clocks(spark: SparkSession, query: Node, sql: str) -> None:
    """Raises UnsupportedQuery where `sql`, which is the query as Spark gets it, asks the time by such a name."""
    names = [column.name for column in query.find_all(exp.Column) if len(column.parts) == 1]
    bare = [name for name in names if name.lower() in BARE]
    if bare and asks_time(spark, sql):
        raise UnsupportedQuery(
            f"{bare[0]} is no column in one place of the query, so that Spark takes it for the function: write "
            f"{bare[0]}() for it, and a column of that name, where there is one, with its table"
        )
