"""A stream's SELECT: the table it is on, and what of the table it takes.

Only a projection and selection over one table passes. Expressions keep the text that the user wrote (without
comments and table qualifiers), since a rewritten one may mean something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from dbt.adapters.streamspark.changes.projection import Projection, quoted
from dbt.adapters.streamspark.errors import UnsupportedQuery
from dbt.adapters.streamspark.streams.names import table_name, table_sql
from dbt.adapters.streamspark.streams.query_text import TokenText, inside_parentheses, tokenize
from dbt.adapters.streamspark.streams.supported import Node, check_expression, check_select, unsupported


@dataclass(frozen=True)
class Star:
    """`*`, without the columns named in `except (...)`."""

    excluded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Item:
    """One expression: its output `name`, its SQL over the base columns, and the columns that it names."""

    name: str
    sql: str
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class BaseQuery:
    """`table` is the base table's name, odd parts quoted; `where` a predicate over its columns, or None."""

    table: str
    items: tuple[Star | Item, ...]
    where: str | None = None

    @property
    def text(self) -> str:
        """The query in one spelling: equal texts, equal streams."""
        items = ", ".join(_item_text(item) for item in self.items)
        return f"select {items} from {table_sql(self.table)}" + (f" where {self.where}" if self.where else "")

    def projection(self, base_columns: Sequence[str]) -> Projection:
        """What the query takes of a table with these columns; `*` alone takes whatever the table has.

        Raises UnsupportedQuery for an output name given twice, or one used in another expression.
        """
        if self.items == (Star(),):
            return Projection(None, self.where)
        _check_aliases(self.items, base_columns)
        columns = tuple(pair for item in self.items for pair in _expanded(item, base_columns))
        _check_unique([name for name, _ in columns])
        return Projection(columns, self.where)


def parse_base_query(sql: str) -> BaseQuery:
    """The base query that `sql` is. Raises UnsupportedQuery, naming what else was found.

    >>> parse_base_query("select o.id, upper(o.name) as n from db.orders o where o.id > 1").text
    'select `id` as `id`, upper(name) as `n` from `db`.`orders` where id > 1'
    """
    sql, select = _select(sql)
    check_select(select)
    text = TokenText(sql, tokenize(sql))
    table = select.args["from_"].this
    for column in select.find_all(exp.Column):
        text.drop_qualifier(column, table)
    items = tuple(_item(node, text, table) for node in select.expressions)
    where = select.args.get("where")
    if where is not None:
        check_expression(where.this)
    return BaseQuery(_table_name(table), items, text.where() if where is not None else None)


def _select(sql: str) -> tuple[str, exp.Select]:
    """The statement, out of parentheses around the whole of it, and its text."""
    root = _statement(sql)
    if isinstance(root, exp.Subquery) and not root.alias:
        return _select(inside_parentheses(sql))
    if not isinstance(root, exp.Select):
        raise unsupported(root.key.upper())
    return sql, root


def _statement(sql: str) -> Node:
    try:
        statements = [statement for statement in parse(sql, dialect="spark") if statement is not None]
    except SqlglotError as error:
        raise UnsupportedQuery(f"the stream's query cannot be parsed: {str(error).splitlines()[0]}") from error
    if len(statements) != 1:
        raise unsupported(f"{len(statements)} statements")
    return statements[0]


def _item(node: Node, text: TokenText, table: exp.Table) -> Star | Item:
    star = node.this if isinstance(node, exp.Column) else node
    if isinstance(star, exp.Star):
        return _star(node, star, table)
    check_expression(node)
    name = node.alias if isinstance(node, exp.Alias) else _plain_name(node, text)
    reads = tuple(dict.fromkeys(text.first_part(column) for column in node.find_all(exp.Column)))
    return Item(name, text.expression(node), reads)


def _star(node: Node, star: exp.Star, table: exp.Table) -> Star:
    if isinstance(node, exp.Column) and node.table.lower() != table.alias_or_name.lower():
        raise unsupported(f"{node.sql('spark')}, all fields of a struct; name them")
    found = [key for key in ("rename", "replace") if star.args.get(key)]
    if found:
        raise unsupported(f"* {found[0]}")
    excluded = star.args.get("except_") or []
    return Star(tuple(column.name for column in excluded))


def _plain_name(node: Node, text: TokenText) -> str:
    if isinstance(node, exp.Column):
        return node.name
    raise unsupported(f"an expression without a name: {text.expression(node)}; write `… as name`")


def _table_name(table: exp.Table) -> str:
    return table_name(part.name for part in table.parts)


def _item_text(item: Star | Item) -> str:
    if isinstance(item, Item):
        return f"{item.sql} as {quoted(item.name)}"
    return "*" + (f" except ({', '.join(quoted(name) for name in item.excluded)})" if item.excluded else "")


def _expanded(item: Star | Item, base_columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    if isinstance(item, Item):
        yield item.name, item.sql
        return
    left_out = {name.lower() for name in item.excluded}
    yield from ((name, quoted(name)) for name in base_columns if name.lower() not in left_out)


def _check_aliases(items: Sequence[Star | Item], base_columns: Sequence[str]) -> None:
    """An expression may name columns of the table, not what another expression of the query is called."""
    known = {name.lower() for name in base_columns}
    aliases = {item.name.lower() for item in items if isinstance(item, Item)} - known
    for item in items:
        for name in item.reads if isinstance(item, Item) else ():
            if name.lower() in aliases:
                raise unsupported(f"{quoted(name)} used in another expression; write out what it stands for")


def _check_unique(names: Sequence[str]) -> None:
    lower = [name.lower() for name in names]
    twice = sorted({name for name in names if lower.count(name.lower()) > 1})
    if twice:
        raise unsupported(f"the column name {twice[0]} twice; give one of them another with `as`")
