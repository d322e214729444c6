"""A part of a query as a query that Spark understands by itself."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.lowering import Cte, Ctes, Lowering
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered
from dbt.adapters.streamspark.changes.query.parentheses import out_of_parentheses

FROM = ("from_", "joins", "laterals")


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


def names_given(low: Lowering, select: exp.Select, ctes: Ctes, item: Node) -> list[str]:
    """What Spark calls the columns that `item`, in the select list, gives; `ctes`: those of the SELECT, too. Raises
    NotCovered."""
    asked = select.copy()
    for clause in [clause for clause in asked.args if clause not in FROM]:
        asked.set(clause, None)
    asked.set("expressions", [item.copy()])
    schema = low.schema_of(standing_alone(asked, ctes))
    if schema is None:
        raise NotCovered("a generator whose columns have no names", item)
    return list(schema.names)
