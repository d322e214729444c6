"""What an aggregate gives for no rows, where a left join finds none."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.aggregates import unwrapped
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered

COUNTS = frozenset(("count", "count_if", "approx_count_distinct", "regr_count"))
COLLECTIONS = frozenset(("collect_list", "collect_set", "array_agg"))
# Others, such as sketches, give something; what users register may.
NULLS = frozenset(
    (
        *("sum", "try_sum", "avg", "mean", "try_avg", "min", "max", "min_by", "max_by", "mode", "median"),
        *("first", "first_value", "last", "last_value", "any_value", "any", "some", "every", "bool_or", "bool_and"),
        *("bit_and", "bit_or", "bit_xor", "listagg", "string_agg", "histogram_numeric", "corr", "skewness", "kurtosis"),
        *("std", "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "covar_pop", "covar_samp"),
        *("percentile", "percentile_approx", "approx_percentile", "percentile_cont", "percentile_disc"),
        *("regr_avgx", "regr_avgy", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy"),
    )
)


def of_nothing(call: Node, column: Node) -> Node:
    """An aggregate's column after a left join, with what the aggregate gives for no rows. Raises NotCovered where that
    is not known."""
    name = unwrapped(call).sql("spark").partition("(")[0].strip().lower()
    if name in COUNTS:
        return exp.Coalesce(this=column, expressions=[exp.Literal.number(0)])
    if name in COLLECTIONS:
        return exp.Coalesce(this=column, expressions=[exp.Anonymous(this="array")])
    if name not in NULLS:
        raise NotCovered("a correlated subquery with an aggregate that may give something for no rows", call)
    return column
