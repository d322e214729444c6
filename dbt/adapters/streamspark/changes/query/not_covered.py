"""Why a part of a query has no rule. Caught where a whole subquery can be compared at both ends instead."""

from __future__ import annotations

from typing import Any, TypeAlias

from sqlglot import exp

Node: TypeAlias = Any  # a node of sqlglot's tree; their base class changes its name between releases
SHOWN = 80


class NotCovered(Exception):
    """`what` names the operator, `place` quotes it (None where the whole query is meant)."""

    def __init__(self, what: str, node: Node | None = None):
        super().__init__(what)
        self.what = what
        self.place = None if node is None else place(node)

    def __str__(self) -> str:
        return self.what if self.place is None else f"{self.what}, at {self.place}"


class Unresolved(NotCovered):
    """A column that the query's own FROM does not have: it may be one of the query around."""


def place(node: Node) -> str:
    """Where in the SQL a node stands: its line where the parser kept it, and its text.

    >>> from sqlglot import parse_one
    >>> place(parse_one("select a + 1 from t").expressions[0])
    'line 1: a + 1'
    """
    text = " ".join(node.sql("spark").split())
    short = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    lines = [part.meta["line"] for part in node.find_all(exp.Identifier) if "line" in part.meta]
    return f"line {min(lines)}: {short}" if lines else short
