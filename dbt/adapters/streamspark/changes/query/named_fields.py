"""Structs whose fields Spark names after columns, with these names written out: columns get names of ours."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.not_covered import Node

# where a list in parentheses is no struct
_LISTS = (exp.In, exp.Any, exp.All, exp.Values, exp.Cube, exp.Rollup, exp.GroupingSets)


def named_fields(root: Node) -> Node:
    """The query with `struct()`, `(a, b)` and `arrays_zip()` giving the names that Spark would take from what is in
    them: a column's, a field's or a key's, or else the place.

    >>> from sqlglot import parse_one
    >>> named_fields(parse_one("select (t.a, b + 1) from t", dialect="spark")).sql("spark")
    "SELECT NAMED_STRUCT('a', t.a, 'col2', b + 1) FROM t"
    >>> named_fields(parse_one("select arrays_zip(m['k'], array(1)) from t", dialect="spark")).sql("spark")[:70]
    "SELECT TRANSFORM(ARRAYS_ZIP(CONCAT(m['k']), CONCAT(ARRAY(1))), __zip -"
    """
    for node in reversed(list(root.find_all(exp.Struct, exp.Tuple, exp.ArraysZip))):
        if not any(part.is_star for part in node.expressions):
            new = _zipped(node) if isinstance(node, exp.ArraysZip) else _struct(node)
            if new is not None:
                node.replace(new)
    return root


def _struct(node: Node) -> Node | None:
    if _is_list(node):
        return None
    fields = [(_name(part) or f"col{place}", _value(part)) for place, part in enumerate(node.expressions, 1)]
    return _named_struct(fields)


def _is_list(node: Node | None) -> bool:
    """Whether the parentheses make no struct."""
    if not isinstance(node, exp.Tuple):
        return False
    inside = isinstance(node.parent, _LISTS) or _is_list(node.parent) or node.find_ancestor(exp.Pivot) is not None
    return inside or not node.expressions


def _zipped(node: exp.ArraysZip) -> Node:
    """Arrays that are no columns by themselves are called by their places."""
    zipped = exp.ArraysZip(expressions=[_without_name(part) for part in node.expressions])
    one = exp.to_identifier("__zip")
    fields = [
        (_name(part) or str(place), exp.Dot(this=one.copy(), expression=exp.to_identifier(str(place), quoted=True)))
        for place, part in enumerate(node.expressions)
    ]
    return exp.Transform(this=zipped, expression=exp.Lambda(this=_named_struct(fields), expressions=[one]))


def _without_name(part: Node) -> Node:
    return part.copy() if isinstance(part, exp.Null) else _call("concat", part.copy())


def _named_struct(fields: list[tuple[str, Node]]) -> Node:
    return _call("named_struct", *(part for name, value in fields for part in (exp.Literal.string(name), value)))


def _call(function: str, *arguments: Node) -> Node:
    return exp.Anonymous(this=function, expressions=list(arguments))


def _value(part: Node) -> Node:
    if isinstance(part, exp.PropertyEQ):
        return part.expression.copy()
    return part.this.copy() if isinstance(part, exp.Alias) else part.copy()


def _name(part: Node) -> str:
    """Empty for what has none."""
    part = part.unnest()
    if isinstance(part, exp.Alias):
        return str(part.alias)
    if isinstance(part, exp.PropertyEQ | exp.Column | exp.Identifier):
        return str(part.name)
    if isinstance(part, exp.Dot):
        return _name(part.expression)
    key = part.expressions[0] if isinstance(part, exp.Bracket) else None
    return str(key.name) if key is not None and key.is_string else ""
