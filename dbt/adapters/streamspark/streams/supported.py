"""What the query of a stream on one table may hold. Everything else makes it a stream on a query (on_query.py)."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.clock_words import clock_text, is_clock_word
from dbt.adapters.streamspark.changes.query.functions import BARE, function_name
from dbt.adapters.streamspark.changes.query.not_covered import Node
from dbt.adapters.streamspark.changes.query.scope import GENERATORS, TIME_WINDOWS
from dbt.adapters.streamspark.changes.query.volatile import COMMON_NAMES, VOLATILE_TYPES, is_salted
from dbt.adapters.streamspark.errors import UnsupportedQuery

ALLOWED_CLAUSES = frozenset({"kind", "expressions", "from_", "where"})
CLAUSE_NAMES = {
    "with_": "WITH",
    "joins": "JOIN",
    "group": "GROUP BY",
    "having": "HAVING",
    "qualify": "QUALIFY",
    "distinct": "DISTINCT",
    "order": "ORDER BY",
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "laterals": "LATERAL VIEW",
    "windows": "WINDOW",
    "hint": "a hint",
    "pivots": "PIVOT",
    "sample": "TABLESAMPLE",
}
TABLE_PARTS = frozenset({"this", "db", "catalog", "alias"})
TABLE_PART_NAMES = {
    "version": "a table at a fixed version",
    "when": "a table at a fixed version",
    "pivots": "PIVOT",
    "sample": "TABLESAMPLE",
    "joins": "JOIN",
    "laterals": "LATERAL VIEW",
}
REFUSED_TYPES = (*VOLATILE_TYPES, exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime)
REFUSED_NAMES = COMMON_NAMES.union(
    ("now", "curdate", "current_date", "current_time", "current_timestamp", "localtimestamp")
)
CLOCK_WHEN_EMPTY = frozenset({"unix_timestamp"})
BARE_HERE = BARE - {"current_time"}  # which is a column where it is bare
TOP_LEVEL = (exp.AggFunc, exp.Window, exp.Query, exp.Explode, exp.Inline, exp.UDTF)
ROW_MAKERS = GENERATORS | TIME_WINDOWS


def unsupported(found: str) -> UnsupportedQuery:
    return UnsupportedQuery(f"its query has {found}")


def check_select(select: exp.Select) -> None:
    """Raises UnsupportedQuery unless `select` has a FROM with one table, at most a WHERE, and no more."""
    for clause, value in select.args.items():
        if value and clause not in ALLOWED_CLAUSES:
            raise unsupported(CLAUSE_NAMES.get(clause, clause.upper().strip("_")))
    if select.args.get("kind"):
        raise unsupported(f"SELECT AS {select.args['kind']}")
    if select.args.get("from_") is None:
        raise unsupported("no FROM")
    _check_table(select.args["from_"].this)


def _check_table(table: Node) -> None:
    if not isinstance(table, exp.Table):
        raise unsupported(f"a {table.key} in FROM")
    if not isinstance(table.this, exp.Identifier):
        raise unsupported(f"a function in FROM: {table.this.sql('spark')}")
    for part, value in table.args.items():
        if value and part not in TABLE_PARTS:
            raise unsupported(TABLE_PART_NAMES.get(part, part.upper()))
    alias = table.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise unsupported("column names after the table's alias")


def check_expression(node: Node) -> None:
    """Raises UnsupportedQuery for an aggregate, window, subquery, generator or function without a fixed result."""
    for part in node.walk():
        if isinstance(part, TOP_LEVEL) or _name(part) in ROW_MAKERS:
            raise unsupported(_kind(part))
        if isinstance(part, exp.Column) and part.parts[0].name.lower() == "_metadata":
            raise unsupported("a file's _metadata")
        if is_clock_word(part) or clock_text(part) is not None:  # which a query's plan tells
            raise unsupported(f"{part.sql('spark')}, which as a time gives another value each time it is asked")
        if _is_volatile(part):
            raise unsupported(f"{_name(part)}(), which gives another value each time it is asked")


def _kind(part: Node) -> str:
    if isinstance(part, exp.Query):
        return "a subquery"
    if isinstance(part, exp.Window):
        return "a window function"
    if _name(part) in TIME_WINDOWS:
        return f"a window of time: {_name(part)}()"
    what = "an aggregate" if isinstance(part, exp.AggFunc) else "a generator"
    return f"{what}: {_name(part)}()"


def _is_volatile(part: Node) -> bool:
    if isinstance(part, REFUSED_TYPES) or is_salted(part):
        return True
    name = _name(part)
    if name in CLOCK_WHEN_EMPTY:
        return not any(part.args.values())
    return name in REFUSED_NAMES or (isinstance(part, exp.TimeToUnix | exp.StrToUnix) and part.this is None)


def _name(part: Node) -> str:
    return function_name(part, BARE_HERE)
