"""Functions that users have made, of which the parser knows the name alone. Spark's plan has the SQL of those made with
CREATE FUNCTION, and says of others whether they were registered as deterministic."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from dbt.adapters.streamspark.changes.query.functions import function_name
from dbt.adapters.streamspark.changes.query.not_covered import Node
from dbt.adapters.streamspark.changes.query.plans import asks_time, plans
from dbt.adapters.streamspark.changes.query.registry import function_info
from dbt.adapters.streamspark.changes.query.volatile import bind_clock, tells_time
from dbt.adapters.streamspark.changes.sequences import items
from dbt.adapters.streamspark.errors import UnsupportedQuery

_BUILT_IN = ("builtin.", "system.builtin.")


def user_functions(spark: SparkSession, query: Node) -> tuple[str, ...]:
    """The names of those that the query calls, as it says them."""
    called = {_said(part) for part in query.find_all(exp.Anonymous)}
    return tuple(sorted(name for name in called if not _is_built_in(spark, name)))


def refuse_moving_functions(frame: DataFrame, query: Node, text: str, users: Collection[str]) -> None:
    """Raises UnsupportedQuery where one of `users`, functions, gives another value each time, or tells the time; others
    are taken as deterministic. `frame` and `query` are those of `text`."""
    if not users:
        return
    said = {function_name(part) for part in query.walk()}
    if any(name not in said for name in _moving(frame)):
        raise _refused(users, "that Spark knows as non-deterministic")
    if _asks_time(frame.sparkSession, query, text):
        raise _refused(users, "that tells the time")


def _said(part: Node) -> str:
    """A function's name with its schema and catalog, where the query says these."""
    above = part.parent
    if isinstance(above, exp.Dot) and above.expression is part:
        return f"{above.this.sql('spark')}.{part.name}"
    if isinstance(above, exp.Table):
        return ".".join(filter(None, (above.catalog, above.db, part.name)))
    return str(part.name)


def _is_built_in(spark: SparkSession, name: str) -> bool:
    """Those that are kept in the catalog are not in the registry."""
    if "." in name:
        return name.lower().startswith(_BUILT_IN)
    info = function_info(spark, name)
    return info is not None and str(info.getSource()) in ("built-in", "")


def _refused(users: Collection[str], what: str) -> UnsupportedQuery:
    return UnsupportedQuery(
        f"{' or '.join(f'{name}()' for name in users)} is a user-defined function {what}: its changes cannot be told"
    )


def _moving(frame: DataFrame) -> Iterator[str]:
    """The names of what Spark takes as non-deterministic. Some that the query itself may say are among them, such as
    `collect_list`: the order of rows is what moves there."""
    for plan in plans(frame):
        stack = [plan]
        while stack:
            node = stack.pop()
            stack += items(node.children())
            for expression in items(node.expressions()):
                yield from _causes(expression)


def _causes(expression: Any) -> Iterator[str]:
    if expression.deterministic():
        return
    below = [name for child in items(expression.children()) for name in _causes(child)]
    yield from below or [str(expression.prettyName())]


def _asks_time(spark: SparkSession, query: Node, text: str) -> bool:
    """Whether the query asks the time apart from its own clocks."""
    if not tells_time(query):
        return asks_time(spark, text)
    try:
        return asks_time(spark, bind_clock(query).sql("spark", comments=False))
    except (AnalysisException, ParseException):  # it is computed whole, and may not tell the time at all
        return False
