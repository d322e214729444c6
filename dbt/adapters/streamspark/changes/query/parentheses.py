"""Parentheses around queries and around what FROM names: clauses may follow them that are no part of what they hold."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered

FOLLOWING = frozenset(("with_", "order", "limit", "offset", "sort", "cluster", "distribute"))


def out_of_parentheses(query: Node) -> Node:
    """The query in the parentheses; where clauses follow them, a SELECT of its rows that has these. Raises NotCovered
    for clauses that make something else of it.

    >>> from sqlglot import parse_one
    >>> out_of_parentheses(parse_one("((select v from t)) limit 1")).sql()
    'SELECT * FROM ((SELECT v FROM t)) AS __inner LIMIT 1'
    """
    while isinstance(query, exp.Subquery) and not _clauses(query):
        query = query.this
    if not isinstance(query, exp.Subquery):
        return query
    clauses = _clauses(query)
    if not FOLLOWING.issuperset(clauses):
        raise NotCovered(f"{' and '.join(clauses).strip('_')} in parentheses", query)
    alias = exp.TableAlias(this=exp.to_identifier("__inner"))
    select = exp.select("*").from_(exp.Subquery(this=query.this.copy(), alias=alias))
    for clause, value in clauses.items():
        select.set(clause, value.copy())
    return select


def bare(item: Node) -> Node:
    """An item of FROM without parentheses that give it no name: what they hold keeps its own."""
    while isinstance(item, exp.Subquery) and isinstance(item.this, exp.Subquery | exp.Table):
        if item.args.get("alias") or _clauses(item) or FOLLOWING.intersection(_clauses(item.this)):
            break
        item = item.this
    return item


def _clauses(query: Node) -> dict[str, Node]:
    return {clause: value for clause, value in query.args.items() if value and clause not in ("this", "alias")}
