"""A parsed query (sqlglot) made into operators (algebra.py): the contents page of what is understood.

| of the query | becomes | in |
|---|---|---|
| FROM, JOIN, LATERAL VIEW, VALUES, CTEs | scans, joins, generators, constants | sources.py |
| WHERE, ON, EXISTS, IN | filters, join conditions, semi joins | predicates.py |
| scalar subqueries, EXISTS inside expressions | joins with groups | subqueries.py |
| GROUP BY, ROLLUP, CUBE, GROUPING SETS, HAVING | aggregates, and unions of them | grouping.py |
| tumbling windows of time | filters and projections | time_windows.py |
| window functions, QUALIFY | windows and filters | windows.py |
| SELECT, DISTINCT, ORDER BY with LIMIT | projections, aggregates, top-k | select.py |
| UNION, INTERSECT, EXCEPT | unions, aggregates, generators | set_operations.py |

What is not understood makes the smallest query around it one Opaque operator.
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.algebra import Opaque
from dbt.adapters.streamspark.changes.query.alone import standing_alone
from dbt.adapters.streamspark.changes.query.bare_names import refuse_bare_clocks
from dbt.adapters.streamspark.changes.query.lowering import Cte, Ctes, Lowering, Relation
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered, Unresolved
from dbt.adapters.streamspark.changes.query.parentheses import out_of_parentheses
from dbt.adapters.streamspark.changes.query.select import lower_select
from dbt.adapters.streamspark.changes.query.set_operations import lower_set_operation
from dbt.adapters.streamspark.changes.query.sources import lower_values


def lower(low: Lowering, query: Node, ctes: Ctes | None = None, inside: bool = False) -> Relation:
    """The operators of a query. `inside`: an Unresolved column is for the query around to know.

    Raises NotCovered where not even the whole query can stand alone.
    """
    known = ctes or Ctes()
    try:
        return _lowered(low, query, known)
    except NotCovered as reason:
        if inside and isinstance(reason, Unresolved):
            raise
        return opaque(low, query, known, reason)


def _lowered(low: Lowering, query: Node, ctes: Ctes) -> Relation:
    query = out_of_parentheses(query)
    ctes = _with(query, ctes)
    if isinstance(query, exp.SetOperation):
        return lower_set_operation(low, query, ctes)
    if isinstance(query, exp.Values):
        return lower_values(low, query)
    if isinstance(query, exp.Select):
        return lower_select(low, query, ctes)
    raise NotCovered(query.key.upper(), query)


def _with(query: Node, ctes: Ctes) -> Ctes:
    clause = query.args.get("with_")
    if clause is None:
        return ctes
    for cte in clause.expressions:
        columns = tuple(name.name for name in cte.args["alias"].columns)
        ctes = ctes.plus(cte.alias, Cte(cte.this, columns, ctes))
    return ctes


def opaque(low: Lowering, query: Node, ctes: Ctes, reason: NotCovered) -> Relation:
    """The query as one operator without a rule. Raises `reason` when it does not stand alone."""
    sql = standing_alone(query, ctes)
    schema = low.schema_of(sql)
    if schema is None:
        raise reason
    refuse_bare_clocks(low.spark, query, sql)
    names = [low.names.new() for _ in schema.fields]
    tables = [table for token, table in low.tables.items() if token in sql]
    columns = tuple(zip((field.name for field in schema.fields), names, strict=True))
    return Relation(Opaque(sql, names, tables, reason), columns)
