"""A part of a query as a query that Spark understands by itself."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.lowering import Cte, Ctes
from dbt.adapters.streamspark.changes.query.not_covered import Node
from dbt.adapters.streamspark.changes.query.parentheses import out_of_parentheses


def standing_alone(query: Node, ctes: Ctes) -> str:
    """The query's SQL, with the WITHs around it that it may name in front."""
    own = out_of_parentheses(query).copy()
    for name, cte in reversed(list(ctes.by_name.items())):
        if any(table.name.lower() == name for table in own.find_all(exp.Table)):
            own = _with_cte(own, name, cte)
    return str(own.sql("spark", comments=False))


def _with_cte(query: Node, name: str, cte: Cte) -> Node:
    """As a subquery around: WITH inside WITH keeps each name to the query that it was given for."""
    alias = exp.TableAlias(this=exp.to_identifier(name), columns=[exp.to_identifier(c) for c in cte.columns])
    outer = exp.select("*").from_(query.subquery("__alone"))
    outer.set("with_", exp.With(expressions=[exp.CTE(this=cte.query.copy(), alias=alias)]))
    return outer
