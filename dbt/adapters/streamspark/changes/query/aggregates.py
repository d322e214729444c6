"""Which functions aggregate: sqlglot knows most of them, Spark's registry the rest."""

from __future__ import annotations

from pyspark.sql import SparkSession
from sqlglot import exp

from dbt.adapters.streamspark.changes.query.not_covered import Node
from dbt.adapters.streamspark.changes.query.registry import function_info

WRAPPERS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
_LISTED_ELSEWHERE = frozenset(("vector_sum", "vector_avg", "schema_of_variant_agg"))  # by the registry
_SPARK_AGGREGATES: dict[str, bool] = {}


class Functions:
    """Answers by `spark`'s registry, which knows the session's own functions too."""

    def __init__(self, spark: SparkSession):
        self._spark = spark

    def aggregates(self, node: Node) -> list[Node]:
        """The outermost aggregate calls in an expression, with FILTER and the like around them. An aggregate that a
        window is over is the window's; what the window's own parts aggregate is not."""
        if isinstance(node, exp.Query):
            return []
        if isinstance(node, exp.Window):
            return [found for part in _window_parts(node) for found in self.aggregates(part)]
        if self.is_aggregate(unwrapped(node)):
            return [node]
        return [found for part in node.iter_expressions() for found in self.aggregates(part)]

    def is_aggregate(self, node: Node) -> bool:
        if isinstance(node, exp.Anonymous):
            return self._is_registered_aggregate(str(node.name).lower())
        if isinstance(node, exp.Any):  # also the quantifier of a subquery, and of patterns
            return not isinstance(node.this.unnest(), exp.Query) and not isinstance(node.parent, exp.Like | exp.ILike)
        if isinstance(node, exp.Grouping | exp.GroupingId):
            return False
        return isinstance(node, exp.AggFunc)

    def _is_registered_aggregate(self, name: str) -> bool:
        if name not in _SPARK_AGGREGATES:
            _SPARK_AGGREGATES[name] = name in _LISTED_ELSEWHERE or self._group(name) == "agg_funcs"
        return _SPARK_AGGREGATES[name]

    def _group(self, name: str) -> str:
        info = function_info(self._spark, name)
        return "" if info is None else str(info.getGroup())


def unwrapped(node: Node) -> Node:
    """The call inside FILTER and the like."""
    while isinstance(node, WRAPPERS):
        node = node.this
    return node


def _window_parts(node: exp.Window) -> list[Node]:
    """What a window is computed from: the arguments of its function, its partitions and its order."""
    function = unwrapped(node.this)
    parts = [*function.iter_expressions(), *(node.args.get("partition_by") or [])]
    return [*parts, node.args["order"]] if node.args.get("order") else parts
