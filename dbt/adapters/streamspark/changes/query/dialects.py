"""The SQL that sqlglot is asked to read, in the order of DIALECTS."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import TokenType
from sqlglot.dialects import Databricks, Spark

# What the parser would write as another call: in other words, without a format or a fraction, or with a default.
AS_WRITTEN = frozenset(
    (
        *("DATE_TRUNC", "TRUNC", "DATE_SUB", "UNIX_DATE", "DATE_FORMAT", "TO_DATE", "TO_TIMESTAMP", "TO_CHAR"),
        *("UNIX_TIMESTAMP", "TO_UNIX_TIMESTAMP", "FROM_UNIXTIME", "INSTR", "SPACE", "LOG2", "LOG10", "PARSE_JSON"),
        *("LISTAGG", "STRING_AGG", "PERCENTILE_CONT", "PERCENTILE_DISC"),
    )
)


class PlainSpark(Spark):
    """Spark's SQL, in which the functions of AS_WRITTEN are calls by their names and no more.

    >>> from sqlglot import parse_one
    >>> parse_one("select date_trunc('month', d), date_sub(d, 1) from t", dialect=PlainSpark).sql("spark")
    "SELECT DATE_TRUNC('month', d), DATE_SUB(d, 1) FROM t"
    """

    class Parser(Spark.Parser):
        FUNCTIONS: ClassVar = {key: of for key, of in Spark.Parser.FUNCTIONS.items() if key not in AS_WRITTEN}
        FUNCTION_PARSERS: ClassVar = {
            key: of for key, of in Spark.Parser.FUNCTION_PARSERS.items() if key not in AS_WRITTEN
        }


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


DIALECTS = (PlainSpark, MoreOfSpark)
