"""Inner joins as they are collected from FROM and WHERE: any number of parts, and the conditions between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.algebra import Condition, Filter, Join, Operator, Term
from dbt.adapters.streamspark.changes.query.not_covered import Node


@dataclass
class JoinTree:
    parts: list[Operator] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)

    def add(self, node: Operator) -> None:
        self.parts.append(node)

    def require(self, bound: Node) -> None:
        """One more conjunct: a filter of the part that it is about, or a condition between parts."""
        term = Term.of(bound)
        place = self.place_of(term)
        if place is None:
            self.conditions.append(Condition.of(bound))
        else:
            self.parts[place] = Filter(self.parts[place], term)

    def place_of(self, term: Term) -> int | None:
        """The part that has all columns of `term`; the first for a term without columns."""
        holds = (place for place, part in enumerate(self.parts) if term.columns <= set(part.columns))
        return next(holds, None)

    @property
    def node(self) -> Operator:
        if len(self.parts) == 1:
            return self.parts[0]
        return Join(list(self.parts), list(self.conditions))

    def become(self, node: Operator) -> None:
        """From here on all of it is one part."""
        self.parts, self.conditions = [node], []


def conjuncts(node: Node) -> Iterator[Node]:
    """The conjuncts of a condition; those that every alternative of an OR has in common are drawn out in front."""
    node = node.unnest()
    if isinstance(node, exp.And):
        yield from conjuncts(node.this)
        yield from conjuncts(node.expression)
        return
    if isinstance(node, exp.Or):
        yield from _common(node)
    yield node


def _common(node: exp.Or) -> Iterator[Node]:
    first, *others = (list(conjuncts(part)) for part in _alternatives(node))
    for conjunct in first:
        if all(any(conjunct == other for other in alternative) for alternative in others):
            yield conjunct.copy()


def _alternatives(node: Node) -> Iterator[Node]:
    node = node.unnest()
    if isinstance(node, exp.Or):
        yield from _alternatives(node.this)
        yield from _alternatives(node.expression)
    else:
        yield node
