"""A query's text made into operators, or into one that has no rule where it cannot be."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType
from sqlglot import exp

from dbt.adapters.streamspark.changes.query.algebra import Opaque, Operator
from dbt.adapters.streamspark.changes.query.bare_names import bare_places, refuse_bare_clocks, settled
from dbt.adapters.streamspark.changes.query.base_tables import BaseTable
from dbt.adapters.streamspark.changes.query.clock_words import refuse_clock_words
from dbt.adapters.streamspark.changes.query.expanded import parse_query
from dbt.adapters.streamspark.changes.query.lambdas import own_variables, variables
from dbt.adapters.streamspark.changes.query.lower import lower
from dbt.adapters.streamspark.changes.query.lowering import Lowering
from dbt.adapters.streamspark.changes.query.named_fields import named_fields
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered
from dbt.adapters.streamspark.changes.query.prune import prune
from dbt.adapters.streamspark.changes.query.same_query import same_query
from dbt.adapters.streamspark.changes.query.scope import Names
from dbt.adapters.streamspark.changes.query.unseen import refuse_unseen
from dbt.adapters.streamspark.changes.query.user_functions import refuse_moving_functions, user_functions
from dbt.adapters.streamspark.changes.query.variables import refuse_variables
from dbt.adapters.streamspark.changes.query.volatile import bind_clock, refuse_volatile, tells_time
from dbt.adapters.streamspark.errors import InvalidQuery, UnsupportedQuery


@dataclass(frozen=True)
class Lowered:
    """`root` gives the columns `ours`, which the query calls as in `schema` (Spark's own, of the query as written);
    `shown` is what people call some of our names, `functions` are the user-defined ones, as the query says them."""

    root: Operator
    ours: tuple[str, ...]
    schema: StructType
    shown: Mapping[str, str] = field(default_factory=dict)
    functions: tuple[str, ...] = ()


def lowered(
    spark: SparkSession, text: str, tables: Mapping[str, BaseTable], schemas: Mapping[str, StructType]
) -> Lowered:
    """The operators of `text`, a query over tokens, for which views are there by now.

    Raises InvalidQuery where Spark does not accept the query, UnsupportedQuery for what has no fixed result.
    """
    columns = {name.lower() for schema in schemas.values() for name in schema.names}
    text = _with_columns(spark, text, columns)
    query = parse_query(text)
    refuse_volatile(query, columns)
    frame = _analysed(spark, text)
    refuse_unseen(frame)
    refuse_clock_words(frame, query)
    refuse_variables(frame)
    users = user_functions(spark, query)
    refuse_moving_functions(frame, query, text, users)
    _check_names(frame.schema)
    low = Lowering(spark, tables, schemas, lower, Names(variables(query)))
    recursive = next((clause for clause in query.find_all(exp.With) if clause.args.get("recursive")), None)
    if recursive is not None:  # Spark calls no two plans of it the same
        return as_opaque(low, text, frame.schema, NotCovered("a recursive WITH", recursive))
    if not _is_faithful(frame, query):
        return as_opaque(low, text, frame.schema, NotCovered("SQL that the parser would write in another way"))
    relation = lower(low, named_fields(own_variables(bind_clock(query))))
    ours = tuple(name for _, name in relation.columns)
    prune(relation.node, ours)
    return Lowered(relation.node, ours, frame.schema, low.names.shown, users)


def _with_columns(spark: SparkSession, text: str, columns: Set[str]) -> str:
    """The text, in which what is called like a clock is a column where Spark takes one."""
    found = bare_places(text)
    names = columns | {alias.alias.lower() for alias in parse_query(text).find_all(exp.Alias)} if found else columns
    places = [(start, end) for start, end in found if text[start : end + 1].lower() in names]
    return settled(_analysed(spark, text), text, places) if places else text


def as_opaque(low: Lowering, text: str, schema: StructType, reason: NotCovered) -> Lowered:
    """The whole query as one operator without a rule, in the user's own words."""
    names = [low.names.new() for _ in schema.fields]
    query = parse_query(text)
    refuse_bare_clocks(low.spark, query, text)
    if tells_time(query):
        raise UnsupportedQuery(f"the query tells the time, and has a part without a rule: {reason}")
    root = Opaque(text, names, list(low.tables.values()), reason)
    return Lowered(root, tuple(names), schema, functions=user_functions(low.spark, query))


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
    return any(same_query(frame, text) for text in dict.fromkeys((_written(query), _written(_with_commas(query)))))


def _written(query: Node) -> str:
    query = query.transform(_called) if query.find(exp.CurrentDate) else query
    return str(query.sql("spark", comments=False))


def _called(part: Node) -> Node:
    """With parentheses, which the parser leaves out: a column may have that name."""
    return exp.Anonymous(this="current_date") if isinstance(part, exp.CurrentDate) else part


def _with_commas(query: Node) -> Node:
    query = query.copy()
    for join in query.find_all(exp.Join):
        if join.kind == "CROSS" and not join.side:
            join.set("kind", None)
    return query


def _check_names(schema: StructType) -> None:
    names = [field.name.lower() for field in schema.fields]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidQuery(f"the query gives column {twice[0]} twice; give one of them another name with `as`")
