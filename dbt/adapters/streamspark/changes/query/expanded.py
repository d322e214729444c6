"""A query's text with its views written out and its base tables replaced by their tokens.

The text is cut and pasted, not generated: what the user wrote stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sqlglot import TokenType, exp, parse, tokenize
from sqlglot.errors import SqlglotError

from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.query.base_tables import BaseTables, View
from dbt.adapters.streamspark.changes.query.dialects import DIALECTS
from dbt.adapters.streamspark.changes.query.not_covered import Node, place
from dbt.adapters.streamspark.errors import InvalidQuery, UnsupportedQuery

Cut = tuple[int, int, str]
_NAME = re.compile(r"\s*(?:[\w$]+|`(?:[^`]|``)+`)(?:\s*\.\s*(?:[\w$]+|`(?:[^`]|``)+`)){0,2}\s*;?\s*")
_TABLE = re.compile(rf"(?i)\s*table\s({_NAME.pattern})")
_WINDOW_CALL = (TokenType.WINDOW, TokenType.L_PAREN)
MAX_DEPTH = 50


def expanded(tables: BaseTables, sql_or_table: str) -> str:
    """The text of the query, or of `select * from` the table or view, over tokens.

    Raises InvalidQuery for text that is no query or names what is not there, UnsupportedQuery for a table at a fixed
    version or a view without text.
    """
    sql = f"select * from {sql_or_table}" if _NAME.fullmatch(sql_or_table) else sql_or_table
    return _expanded(tables, sql.strip().rstrip(";"), None, 0)


def parse_query(sql: str, what: str = "the query") -> Node:
    """The one SELECT (or set operation, or VALUES) that `sql`, the text of `what`, is. Raises InvalidQuery."""
    try:
        statements = _parsed(readable(sql))
    except SqlglotError as error:
        found = str(error).splitlines()[0].rstrip(".")
        raise InvalidQuery(
            f"{what} cannot be parsed: {found}. Where Spark accepts it, that is SQL which sqlglot does not know: write "
            "that part in another way."
        ) from error
    if len(statements) != 1:
        raise InvalidQuery(f"one query is needed, found {len(statements)} statements")
    if not isinstance(statements[0], exp.Query | exp.Values):
        raise InvalidQuery(f"a query is needed, found {statements[0].key.upper()}: {place(statements[0])}")
    return statements[0]


def _parsed(sql: str) -> list[Node]:
    """By the first dialect that can; raises what the first says where none can."""
    failures = []
    for dialect in DIALECTS:
        try:
            return [statement for statement in parse(sql, dialect=dialect) if statement is not None]
        except SqlglotError as error:
            failures.append(error)
    raise failures[0]


def readable(sql: str) -> str:
    """The text with the function `window` in quotes, which the parser takes for a clause behind GROUP BY.

    >>> readable("select 'window(' from t group by window(at, '1 hour')")
    "select 'window(' from t group by `window`(at, '1 hour')"
    """
    tokens = tokenize(sql, read="spark") if "window" in sql.lower() else []
    calls = (one for one, next_ in pairwise(tokens) if (one.token_type, next_.token_type) == _WINDOW_CALL)
    return _pasted(sql, [(call.start, call.end, f"`{call.text}`") for call in calls])


def _expanded(tables: BaseTables, sql: str, inside: View | None, depth: int) -> str:
    if depth > MAX_DEPTH:
        raise InvalidQuery(f"views are nested more than {MAX_DEPTH} deep; is one of them defined by itself?")
    sql = readable(_selected(sql))
    root = parse_query(sql, f"view {inside.name}" if inside else "the query")
    cuts: list[Cut] = []
    for table in root.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and not _is_cte(table):
            cuts.append(_replacement(tables, table, inside, depth))
            cuts.extend(_unqualified(root, table))
    return _pasted(sql, cuts)


def _selected(sql: str) -> str:
    """The statement TABLE as a SELECT."""
    found = _TABLE.fullmatch(sql)
    return sql if found is None else f"select * from {found[1]}"


def _is_cte(table: exp.Table) -> bool:
    """Whether the name is one of a WITH around it, which comes before tables."""
    if table.args.get("db"):
        return False
    inside = [table, *_ancestors(table)]
    names = (cte.alias.lower() for query in inside if isinstance(query, exp.Query) for cte in _seen(query, inside))
    return table.name.lower() in names


def _seen(query: Node, inside: Sequence[Node]) -> list[Node]:
    """The queries of a WITH that can be named there: in one of them only those before it, unless it is recursive."""
    clause = query.args.get("with_")
    if clause is None or clause.args.get("recursive"):
        return list(query.ctes)
    places = [place for place, cte in enumerate(query.ctes) if any(cte is node for node in inside)]
    return list(query.ctes[: places[0]] if places else query.ctes)


def _ancestors(node: Node) -> Iterator[Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def _replacement(tables: BaseTables, table: exp.Table, inside: View | None, depth: int) -> Cut:
    if table.args.get("version") or table.args.get("when"):
        raise UnsupportedQuery(f"a table at a fixed version has no changes: {place(table)}")
    parts = [part.name for part in table.parts]
    start, end = _span(table.parts)
    view = tables.view(parts, inside)
    new = tables.table(parts, inside).token if view is None else _view_text(tables, view, depth)
    return start, end, new if table.alias else f"{new} as {quoted(table.name)}"


def _view_text(tables: BaseTables, view: View, depth: int) -> str:
    """The view as a subquery. Its columns have the names that it was made with, whatever its text calls them."""
    inner = _expanded(tables, view.text, view, depth + 1)
    if not _has_star(view.text) or _is_twice(view.selected):
        columns = ", ".join(quoted(name) for name in view.columns)
        return f"(select * from ({inner}\n) as __view ({columns}))"
    return f"(select {_by_name(view)} from ({inner}\n) as __view)"


def _has_star(sql: str) -> bool:
    """Whether columns are selected that have no name in the text: their number and order are those of the tables."""
    return any(not isinstance(star.parent, exp.Count) for star in parse_query(sql).find_all(exp.Star))


def _is_twice(names: Sequence[str]) -> bool:
    return len({name.lower() for name in names}) < len(names)


def _by_name(view: View) -> str:
    """The columns that the view has had from the beginning, wherever they are now."""
    pairs = zip(view.selected, view.columns, strict=False)
    return ", ".join(f"{quoted(old)} as {quoted(new)}" for old, new in pairs) or "*"


def _unqualified(root: Node, table: exp.Table) -> Iterator[Cut]:
    """Columns that name the table with its schema: only the table's own name is left as an alias."""
    parts = [part.name.lower() for part in table.parts]
    if len(parts) == 1 or table.alias:
        return
    for column in root.find_all(exp.Column):
        names = [part.name.lower() for part in column.parts]
        for skipped in range(len(parts) - 1):
            if len(names) > len(parts) - skipped and names[: len(parts) - skipped] == parts[skipped:]:
                yield *_span(column.parts[: len(parts) - skipped]), quoted(table.name)
                break


def _span(parts: Sequence[Node]) -> tuple[int, int]:
    return min(part.meta["start"] for part in parts), max(part.meta["end"] for part in parts)


def _pasted(sql: str, cuts: Iterable[Cut]) -> str:
    for start, end, new in sorted(set(cuts), reverse=True):
        sql = f"{sql[:start]}{new}{sql[end + 1 :]}"
    return sql
