"""Names of the select list, written out where other clauses say them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered
from dbt.adapters.streamspark.changes.query.scope import Scope
from dbt.adapters.streamspark.changes.query.windows import named_windows

Aliases = Mapping[str, Node]  # in lower case


def written_out(select: exp.Select, node: Node, scope: Scope, aliases: Aliases) -> Node:
    """`node` with windows' names and aliases of the select list replaced by what they stand for; a column of FROM
    comes before an alias of its name. Subqueries have names of their own."""

    def replaced(part: Node) -> Node:
        if isinstance(part, exp.Query):
            return part.copy()  # a new node is not gone into
        is_name = isinstance(part, exp.Column) and len(part.parts) == 1 and not scope.knows(part.name)
        alias = aliases.get(part.name.lower()) if is_name else None
        return part if alias is None else _operand(alias)

    return named_windows(select, node.copy()).transform(replaced)


def ordered(select: exp.Select, node: Node, scope: Scope, aliases: Aliases, items: Sequence[tuple[str, Node]]) -> Node:
    """One ORDER BY expression: here an alias comes before a column, and a number is a place in the select list."""
    node = node.copy()
    key = node.this
    if isinstance(key, exp.Literal) and key.is_int:
        node.set("this", items[int(key.name) - 1][1].copy())
        return node
    key = _with_aliases_first(select, key, scope, aliases)
    node.set("this", key.this if isinstance(key, exp.Paren) else key)
    return node


def _with_aliases_first(select: exp.Select, key: Node, scope: Scope, aliases: Aliases) -> Node:
    def replaced(part: Node) -> Node:
        if isinstance(part, exp.Query):
            return _without_aliases(part, aliases)
        alias = aliases.get(part.parts[0].name.lower()) if isinstance(part, exp.Column) else None
        return part if alias is None else _field(alias, part, scope)

    return named_windows(select, key.copy()).transform(replaced)


def _without_aliases(query: Node, aliases: Aliases) -> Node:
    """A subquery in ORDER BY. Where it says the name of an alias, that may be a column of its own or the alias."""
    if any(column.parts[0].name.lower() in aliases for column in query.find_all(exp.Column)):
        raise NotCovered("a name of the select list in a subquery of ORDER BY", query)
    return query.copy()


def _field(alias: Node, column: exp.Column, scope: Scope) -> Node:
    """What `a` or `a.b` stands for, `a` being the alias."""
    first, *fields = column.parts
    if fields and any(source.is_called([first.name]) for source in scope.sources):
        raise NotCovered("ORDER BY of a name that is both a table's and an alias", column)
    node = _operand(alias)
    for part in fields:
        node = exp.Dot(this=node, expression=exp.to_identifier(part.name, quoted=True))
    return node


def _operand(alias: Node) -> Node:
    return alias.copy() if isinstance(alias, exp.Column) else exp.Paren(this=alias.copy())
