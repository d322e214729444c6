"""Names that a SELECT can see, and what they stand for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import count

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.functions import function_name
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered, Unresolved

BOUND = "streamspark_bound"
GENERATORS = frozenset(
    (
        *("explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack"),
        *("json_tuple", "parse_url_tuple", "variant_explode", "variant_explode_outer", "sql_keywords"),
    )
)
TIME_WINDOWS = frozenset(("window", "session_window", "window_time"))
_NOT_HERE = {
    **dict.fromkeys(GENERATORS, "a generator in this place"),
    **dict.fromkeys(TIME_WINDOWS, "a window of time in this place"),
    "identifier": "a name made by identifier()",
}
Column = tuple[str, str]


class Names:
    """A supply of column names, each given out once, but for those `taken`; `shown` is what people call the column."""

    def __init__(self, taken: Collection[str] = ()) -> None:
        self._free = (name for number in count(1) if (name := f"c{number}") not in taken)
        self.shown: dict[str, str] = {}

    def new(self, shown: str = "") -> str:
        name = next(self._free)
        if shown:
            self.shown[name] = shown
        return name


@dataclass(frozen=True)
class Source:
    """One item of FROM: `qualifier` is its alias, or the parts of the table's name; `columns` are (name, ours)."""

    qualifier: tuple[str, ...]
    columns: tuple[Column, ...]

    def is_called(self, parts: Sequence[str]) -> bool:
        wanted = tuple(part.lower() for part in parts)
        return tuple(part.lower() for part in self.qualifier)[-len(wanted) :] == wanted


@dataclass
class Scope:
    """`sources` answer qualified names; `visible`, the columns of `*`, unqualified ones. `outer` is the scope of the
    query around, where columns of it may be named."""

    sources: list[Source] = field(default_factory=list)
    visible: list[Column] = field(default_factory=list)
    outer: Scope | None = None

    def add(self, source: Source) -> None:
        self.sources.append(source)
        self.visible.extend(source.columns)

    def resolve(self, column: exp.Column) -> tuple[str, list[str]]:
        """Our name of a column and the struct fields named after it. Raises Unresolved."""
        parts = [part.name for part in column.parts]
        found = self._own(parts, column)
        if found is None and self.outer is not None:
            found = self.outer._own(parts, column)
        if found is None:
            raise Unresolved(f"a column that is not there ({'.'.join(parts)})", column)
        return found

    def knows(self, name: str) -> bool:
        return any(known.lower() == name.lower() for known, _ in self.visible)

    def _own(self, parts: list[str], column: exp.Column) -> tuple[str, list[str]] | None:
        for length in range(min(3, len(parts) - 1), 0, -1):
            sources = [source for source in self.sources if source.is_called(parts[:length])]
            found = [pair for source in sources for pair in source.columns if _same(pair, parts[length])]
            if found:
                return _only(found, column), parts[length + 1 :]
        found = [pair for pair in self.visible if _same(pair, parts[0])]
        return (_only(found, column), parts[1:]) if found else None

    def star(self, qualifier: Sequence[str] = ()) -> list[Column]:
        """The columns of `*` or, with a qualifier, of `t.*`."""
        if not qualifier:
            return list(self.visible)
        found = [source for source in self.sources if source.is_called(qualifier)]
        if len(found) != 1:
            raise NotCovered(f"all fields of {'.'.join(qualifier)}")
        return list(found[0].columns)


def _same(pair: Column, name: str) -> bool:
    return pair[0].lower() == name.lower()


def _only(found: list[Column], column: exp.Column) -> str:
    names = {name for _, name in found}
    if len(names) > 1:
        raise NotCovered("an ambiguous column", column)
    return names.pop()


def bound(name: str) -> exp.Column:
    """A column under our name."""
    column = exp.column(name)
    column.meta[BOUND] = True
    return column


def bind(node: Node, scope: Scope) -> Node:
    """A copy of an expression with every column under our name. Raises Unresolved, and NotCovered for a subquery."""

    def replaced(part: Node) -> Node:
        if isinstance(part, exp.Query):
            raise NotCovered("a subquery in this place", part)
        function = function_name(part)
        if function in _NOT_HERE:
            raise NotCovered(_NOT_HERE[function], part)
        if part.is_star and not (isinstance(part, exp.Star) and isinstance(part.parent, exp.Count)):
            raise NotCovered("a star inside an expression", part.parent or part)
        if not isinstance(part, exp.Column) or part.meta.get(BOUND):
            return part
        return _bound_column(part, scope)

    return node.copy().transform(replaced)


def _bound_column(column: exp.Column, scope: Scope) -> Node:
    name, fields = scope.resolve(column)
    result: Node = bound(name)
    for field_name in fields:
        result = exp.Dot(this=result, expression=exp.to_identifier(field_name, quoted=True))
    return result
