"""A query's text made into operators, or into one that has no rule where it cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType
from sqlglot import exp

from dbt.adapters.streamspark.changes.query.algebra import Opaque, Operator
from dbt.adapters.streamspark.changes.query.base_tables import BaseTable
from dbt.adapters.streamspark.changes.query.clock_words import refuse_clock_words
from dbt.adapters.streamspark.changes.query.expanded import parse_query
from dbt.adapters.streamspark.changes.query.functions import function_name
from dbt.adapters.streamspark.changes.query.lower import lower
from dbt.adapters.streamspark.changes.query.lowering import Lowering
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered
from dbt.adapters.streamspark.changes.query.prune import prune
from dbt.adapters.streamspark.changes.query.registry import function_info
from dbt.adapters.streamspark.changes.query.unseen import refuse_unseen
from dbt.adapters.streamspark.changes.query.variables import refuse_variables
from dbt.adapters.streamspark.changes.query.volatile import bind_clock, refuse_volatile, tells_time
from dbt.adapters.streamspark.errors import InvalidQuery, UnsupportedQuery

CANNOT_PLAN = "Spark cannot plan the query"


@dataclass(frozen=True)
class Lowered:
    """`root` gives the columns `ours`, which the query calls as in `schema` (Spark's own, of the query as written);
    `shown` is what people call some of our names."""

    root: Operator
    ours: tuple[str, ...]
    schema: StructType
    shown: Mapping[str, str] = field(default_factory=dict)


def lowered(
    spark: SparkSession, text: str, tables: Mapping[str, BaseTable], schemas: Mapping[str, StructType]
) -> Lowered:
    """The operators of `text`, a query over tokens, for which views are there by now.

    Raises InvalidQuery where Spark does not accept the query, UnsupportedQuery for what has no fixed result.
    """
    query = parse_query(text)
    refuse_volatile(query, {name.lower() for schema in schemas.values() for name in schema.names})
    frame = _analysed(spark, text)
    refuse_unseen(frame)
    refuse_clock_words(frame, query)
    refuse_variables(frame)
    _refuse_volatile_functions(frame, query)
    _check_names(frame.schema)
    low = Lowering(spark, tables, schemas, lower)
    recursive = next((clause for clause in query.find_all(exp.With) if clause.args.get("recursive")), None)
    if recursive is not None:  # Spark calls no two plans of it the same
        return as_opaque(low, text, frame.schema, NotCovered("a recursive WITH", recursive))
    if not _is_faithful(frame, query):
        return as_opaque(low, text, frame.schema, NotCovered("SQL that the parser would write in another way"))
    relation = lower(low, bind_clock(query))
    ours = tuple(name for _, name in relation.columns)
    prune(relation.node, ours)
    return Lowered(relation.node, ours, frame.schema, low.names.shown)


def as_opaque(low: Lowering, text: str, schema: StructType, reason: NotCovered) -> Lowered:
    """The whole query as one operator without a rule, in the user's own words."""
    names = [low.names.new() for _ in schema.fields]
    if tells_time(parse_query(text)):
        raise UnsupportedQuery(f"the query tells the time, and has a part without a rule: {reason}")
    return Lowered(Opaque(text, names, list(low.tables.values()), reason), tuple(names), schema)


def _analysed(spark: SparkSession, text: str) -> DataFrame:
    try:
        return spark.sql(text)
    except (AnalysisException, ParseException) as error:
        message = next(line for line in str(error).splitlines() if line.strip())
        raise InvalidQuery(f"Spark does not accept the query: {message}") from error


def _is_faithful(frame: DataFrame, query: Node) -> bool:
    """Whether the parser, asked to write the query again, writes what Spark reads as the same query: only then can
    parts of what it writes stand for parts of the query. It does not tell `a, b` from `a cross join b`, which Spark
    does, so either will do."""
    return any(_is_same(frame, text) for text in dict.fromkeys((_written(query), _written(_with_commas(query)))))


def _written(query: Node) -> str:
    return str(query.sql("spark", comments=False))


def _with_commas(query: Node) -> Node:
    query = query.copy()
    for join in query.find_all(exp.Join):
        if join.kind == "CROSS" and not join.side:
            join.set("kind", None)
    return query


def _is_same(frame: DataFrame, text: str) -> bool:
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


def _refuse_volatile_functions(frame: DataFrame, query: Node) -> None:
    """User-defined functions are taken as deterministic unless Spark says otherwise."""
    names = {function_name(part) for part in query.find_all(exp.Anonymous)}
    for name in sorted(names):
        if _is_users(frame.sparkSession, name) and not all(n.deterministic() for n in _plan_nodes(frame)):
            raise UnsupportedQuery(
                f"{name}() is a user-defined function that Spark knows as non-deterministic: its changes cannot be told"
            )


def _is_users(spark: SparkSession, name: str) -> bool:
    info = function_info(spark, name)
    return info is not None and str(info.getSource()) not in ("built-in", "")


def _plan_nodes(frame: DataFrame) -> Iterator[Any]:
    stack = [frame._jdf.queryExecution().analyzed()]
    while stack:
        node = stack.pop()
        yield node
        children = node.children()
        stack.extend(children.apply(index) for index in range(children.size()))


def _check_names(schema: StructType) -> None:
    names = [field.name.lower() for field in schema.fields]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidQuery(f"the query gives column {twice[0]} twice; give one of them another name with `as`")
