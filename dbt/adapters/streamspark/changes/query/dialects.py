"""The SQL that sqlglot is asked to read, in this order."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import TokenType
from sqlglot.dialects import Databricks, Spark


class MoreOfSpark(Databricks):
    """What Spark reads and sqlglot's Spark does not: `column:path`, and `>>>`, read as another operator of two values.

    It is for finding tables and functions: written again, such a query is not what Spark reads (lowered.py), so that it
    has no rule, and is computed in the user's own words.

    >>> from sqlglot import exp, parse_one
    >>> [table.name for table in parse_one("select v:a::int >>> 1 from t", dialect=MoreOfSpark).find_all(exp.Table)]
    ['t']
    """

    class Tokenizer(Databricks.Tokenizer):
        KEYWORDS: ClassVar = {**Databricks.Tokenizer.KEYWORDS, ">>>": TokenType.DPIPE}


DIALECTS = (Spark, MoreOfSpark)
