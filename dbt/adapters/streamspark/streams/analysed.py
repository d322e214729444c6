"""Spark's own opinion of a stream's query: what sqlglot cannot know (user functions) shows in the analysed plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.query.plans import asks_time
from dbt.adapters.streamspark.spark_errors import as_sql_error
from dbt.adapters.streamspark.streams.supported import unsupported

PLAIN = frozenset({"Project", "Filter", "SubqueryAlias", "LogicalRelation", "DataSourceV2Relation"})
KINDS = {
    "Aggregate": "an aggregate",
    "Window": "a window function",
    "Generate": "a generator",
    "View": "a view",
    "Distinct": "DISTINCT",
}


def check_analysed(spark: SparkSession, sql: str) -> None:
    """Raises UnsupportedQuery unless the plan of `sql` is a projection and selection over one table, with fixed
    results, and SqlError when Spark does not accept it."""
    try:
        plan: Any = spark.sql(sql)._jdf.queryExecution().analyzed()
    except AnalysisException as error:
        raise as_sql_error(error) from error
    for node in _nodes(plan):
        name = str(node.nodeName()).split(" ")[0]
        kind = str(node.getClass().getSimpleName())
        if kind not in PLAIN:
            raise unsupported(KINDS.get(kind, name))
        if not node.deterministic():
            raise unsupported("a function that gives another value each time it is asked")
    if asks_time(spark, sql):
        raise unsupported("a function that tells the time")


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    children = plan.children()
    for index in range(children.size()):
        yield from _nodes(children.apply(index))
