"""The tokens of a query and the positions of its parts: texts are cut out of what the user wrote."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.dialects import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.errors import UnsupportedQuery
from dbt.adapters.streamspark.streams.supported import Node

OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)


def tokenize(sql: str) -> list[Token]:
    """Raises UnsupportedQuery for text that is no SQL."""
    try:
        return list(Spark().tokenize(sql))
    except SqlglotError as error:
        raise UnsupportedQuery(f"the stream's query cannot be read: {str(error).splitlines()[0]}") from error


def inside_parentheses(sql: str) -> str:
    """The text between the first opening and the last closing parenthesis."""
    tokens = tokenize(sql)
    first = next(token for token in tokens if token.token_type == TokenType.L_PAREN)
    last = next(token for token in reversed(tokens) if token.token_type == TokenType.R_PAREN)
    return sql[first.end + 1 : last.start]


class TokenText:
    """Cuts expressions out of `sql`: comments are left out, and what `drop_qualifier` marks."""

    def __init__(self, sql: str, tokens: Sequence[Token]):
        self.sql = sql
        self.tokens = [token for token in tokens if token.token_type != TokenType.SEMICOLON]
        self._dropped: set[int] = set()
        self._spans = self._top_level_spans()

    def _top_level_spans(self) -> dict[str, list[tuple[int, int]]]:
        """Token ranges: one for each item of the select list, and the WHERE clause's."""
        spans: dict[str, list[tuple[int, int]]] = {"select": [], "from": [], "where": []}
        clause, begin, depth = "", 0, 0
        starts = {TokenType.SELECT: "select", TokenType.FROM: "from", TokenType.WHERE: "where"}
        for index, token in enumerate(self.tokens):
            depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
            comma = token.token_type == TokenType.COMMA and clause == "select"
            if depth == 0 and (token.token_type in starts or comma):
                if clause:
                    spans[clause].append((begin, index))
                clause, begin = (clause if comma else starts[token.token_type]), index + 1
        if clause:
            spans[clause].append((begin, len(self.tokens)))
        return spans

    def drop_qualifier(self, column: exp.Column, table: exp.Table) -> None:
        """Leave the table's alias or name out where it qualifies `column`."""
        parts = column.parts
        for token in self._between(parts[0], parts[_qualifiers(column, table)]):
            self._dropped.add(token.start)

    def _between(self, first: Node, last: Node) -> list[Token]:
        begin, end = first.meta["start"], last.meta["start"]
        return [token for token in self.tokens if begin <= token.start < end]

    def first_part(self, column: exp.Column) -> str:
        """The column's own name: of `o.address.street`, with o the table, `address`."""
        return str(self._kept(column)[0].name)

    def _kept(self, column: exp.Column) -> list[Node]:
        return [part for part in column.parts if part.meta.get("start") not in self._dropped]

    def expression(self, node: Node) -> str:
        """The text of one item of the select list, without its alias."""
        begin, end = self._span_of(node)
        if isinstance(node, exp.Alias):
            end = self._before_alias(node, begin, end)
        elif isinstance(node, exp.Column) and len(self._kept(node)) == 1:
            return quoted(node.name)
        return self._text(begin, end)

    def _span_of(self, node: Node) -> tuple[int, int]:
        select = node.parent
        assert isinstance(select, exp.Select)
        position = next(i for i, item in enumerate(select.expressions) if item is node)
        return self._spans["select"][position]

    def _before_alias(self, node: exp.Alias, begin: int, end: int) -> int:
        start = node.args["alias"].meta["start"]
        index = next(i for i in range(begin, end) if self.tokens[i].start == start)
        return index - (self.tokens[index - 1].token_type == TokenType.ALIAS)

    def where(self) -> str:
        begin, end = self._spans["where"][0]
        return self._text(begin, end)

    def _text(self, begin: int, end: int) -> str:
        pieces: list[str] = []
        previous: Token | None = None
        for token in self.tokens[begin:end]:
            if previous is not None and token.start > previous.end + 1:
                pieces.append(" ")
            if token.start not in self._dropped:
                pieces.append(self.sql[token.start : token.end + 1])
            previous = token
        return "".join(pieces)


def _qualifiers(column: exp.Column, table: exp.Table) -> int:
    """How many of the column's leading parts name the table."""
    names = [part.name.lower() for part in column.parts]
    full = [table.alias.lower()] if table.alias else [part.name.lower() for part in table.parts]
    for start in range(len(full)):
        path = full[start:]
        if len(names) > len(path) and names[: len(path)] == path:
            return len(path)
    return 0
