"""Variables of lambdas, which come before columns, in whatever case they are written."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.not_covered import Node


def variables(root: Node) -> frozenset[str]:
    """The names of all variables, in lower case."""
    return frozenset(name.name.lower() for function in root.find_all(exp.Lambda) for name in function.expressions)


def own_variables(root: Node) -> Node:
    """The query with every variable written as its lambda calls it, and no longer as a column. The parser takes for
    columns those that are written in another case.

    >>> from sqlglot import parse_one
    >>> own_variables(parse_one("select transform(a, X -> x.f + y) from t", dialect="spark")).sql("spark")
    'SELECT TRANSFORM(a, X -> X.f + y) FROM t'
    """
    for column in list(root.find_all(exp.Column)):
        name = column.parts[0].name.lower()
        variable = next((one for one in _variables_around(column) if one.name.lower() == name), None)
        if variable is not None:
            column.replace(_named(column, variable))
    return root


def _variables_around(node: Node) -> Iterator[Node]:
    """Of the lambdas around a node, the innermost first."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, exp.Lambda):
            yield from node.expressions


def _named(column: exp.Column, variable: Node) -> Node:
    named: Node = variable.copy()
    for field in column.parts[1:]:
        named = exp.Dot(this=named, expression=field.copy())
    return named
