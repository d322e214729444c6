"""Operators that a query is made of once it is lowered: the few for which there are rules.

Every column of every operator has a name of its own (`c1`, `c2`, …), so that no name is ever ambiguous. Expressions
are Spark SQL over the names of the operator's inputs. DISTINCT, set operations, grouping sets and subqueries are no
operators: `lower.py` makes groups, unions and joins of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.base_tables import BaseTable
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered

CLOCK = "__STREAMSPARK_NOW()"  # as sqlglot writes the names of functions


@dataclass(frozen=True)
class Term:
    """A bound expression: its SQL and the names of the columns in it."""

    sql: str
    columns: frozenset[str]

    @classmethod
    def of(cls, bound: Node) -> Term:
        return cls(bound.sql("spark", comments=False), frozenset(c.name for c in bound.find_all(exp.Column)))

    @classmethod
    def column(cls, name: str) -> Term:
        return cls(name, frozenset([name]))


Item = tuple[str, Term]


@dataclass(frozen=True)
class Condition:
    """A conjunct of a join; `equal` holds its two sides where it is an equality of them. `of_in`: it stands for an IN,
    which without ANSI mode compares two types in another one than `=` does."""

    term: Term
    equal: tuple[Term, Term] | None = None
    of_in: bool = False

    @classmethod
    def of(cls, bound: Node, of_in: bool = False) -> Condition:
        sides = None
        if isinstance(bound, exp.EQ | exp.NullSafeEQ):
            sides = (Term.of(bound.this), Term.of(bound.expression))
        return cls(Term.of(bound), sides, of_in)

    def pair(self, left: Sequence[str], right: Sequence[str]) -> tuple[Term, Term] | None:
        """The equality's two sides, one over columns of `left` only, one over columns of `right` only."""
        for one, other in (self.equal, self.equal[::-1]) if self.equal else ():
            if one.columns and other.columns and one.columns <= set(left) and other.columns <= set(right):
                return one, other
        return None


@dataclass(eq=False)
class Operator:
    """`columns`: the names of what comes out; `place`: where in the SQL the operator stands, if that may matter."""

    place: str = field(default="", kw_only=True)

    @property
    def inputs(self) -> list[Operator]:
        return []

    @property
    def columns(self) -> list[str]:
        raise NotImplementedError

    @property
    def terms(self) -> list[Term]:
        """The operator's own expressions."""
        return []

    def walk(self) -> Iterator[Operator]:
        yield self
        for child in self.inputs:
            yield from child.walk()

    @property
    def reads_clock(self) -> bool:
        return any(CLOCK in term.sql for term in self.terms)


def pairs_of(conditions: Sequence[Condition], left: Operator, right: Operator) -> list[tuple[Term, Term]]:
    """The equalities of two inputs of a join, the left one's side first."""
    found = (condition.pair(left.columns, right.columns) for condition in conditions)
    return [pair for pair in found if pair is not None]


@dataclass(eq=False)
class Scan(Operator):
    """Columns of a base table; `names` maps the table's name of a column to ours."""

    table: BaseTable
    names: dict[str, str]

    @property
    def columns(self) -> list[str]:
        return list(self.names.values())


@dataclass(eq=False)
class Text(Operator):
    """A query as text, which gives the columns `names`."""

    sql: str
    names: list[str]

    @property
    def columns(self) -> list[str]:
        return self.names

    @property
    def terms(self) -> list[Term]:
        return [Term(self.sql, frozenset())]


@dataclass(eq=False)
class Constant(Text):
    """Rows that no table gives; `sql` selects the columns and `__id`."""


@dataclass(eq=False)
class Opaque(Text):
    """A query without a rule: `sql` reads `tables` by their tokens; `reason` says why."""

    tables: list[BaseTable]
    reason: NotCovered


@dataclass(eq=False)
class Unary(Operator):
    child: Operator

    @property
    def inputs(self) -> list[Operator]:
        return [self.child]

    @property
    def columns(self) -> list[str]:
        return self.child.columns


@dataclass(eq=False)
class Project(Unary):
    items: list[Item]

    @property
    def columns(self) -> list[str]:
        return [name for name, _ in self.items]

    @property
    def terms(self) -> list[Term]:
        return [term for _, term in self.items]


@dataclass(eq=False)
class Filter(Unary):
    predicate: Term

    @property
    def terms(self) -> list[Term]:
        return [self.predicate]


@dataclass(eq=False)
class Generate(Unary):
    """LATERAL VIEW of an array or map, `argument`: one row per element, under `names` (element, or key and value);
    `position` is the name of the element's place, an internal one where the query asks for none."""

    argument: Term
    outer: bool
    position: str
    names: list[str]

    @property
    def columns(self) -> list[str]:
        return [*self.child.columns, self.position, *self.names]

    @property
    def terms(self) -> list[Term]:
        return [self.argument]


@dataclass(eq=False)
class Aggregate(Unary):
    """One row per value of `keys`; without keys exactly one row."""

    keys: list[Item]
    aggregates: list[Item]

    @property
    def columns(self) -> list[str]:
        return [name for name, _ in (*self.keys, *self.aggregates)]

    @property
    def terms(self) -> list[Term]:
        return [term for _, term in (*self.keys, *self.aggregates)]


@dataclass(eq=False)
class Window(Unary):
    """The child's rows and `items`; `partition` is what all of the items' windows are partitioned by. `places` are
    numbers of the rows that items read, in windows of the same partitions and order."""

    items: list[Item]
    partition: list[Term]
    places: list[Item] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        return [*self.child.columns, *(name for name, _ in self.items)]

    @property
    def terms(self) -> list[Term]:
        return [term for _, term in self.items]


@dataclass(eq=False)
class TopK(Unary):
    """ORDER BY with LIMIT; ties are broken by row id."""

    order: list[Term]
    limit: str | None
    offset: str | None

    @property
    def terms(self) -> list[Term]:
        return self.order


@dataclass(eq=False)
class Join(Operator):
    """Inner and cross joins of any number of inputs."""

    children: list[Operator]
    conditions: list[Condition] = field(default_factory=list)

    @property
    def inputs(self) -> list[Operator]:
        return self.children

    @property
    def columns(self) -> list[str]:
        return [name for child in self.children for name in child.columns]

    @property
    def terms(self) -> list[Term]:
        return [condition.term for condition in self.conditions]


@dataclass(eq=False)
class TwoSided(Operator):
    left: Operator
    right: Operator
    conditions: list[Condition]

    @property
    def inputs(self) -> list[Operator]:
        return [self.left, self.right]

    @property
    def terms(self) -> list[Term]:
        return [condition.term for condition in self.conditions]

    @property
    def pairs(self) -> list[tuple[Term, Term]]:
        """The equalities between the two sides."""
        return pairs_of(self.conditions, self.left, self.right)


@dataclass(eq=False)
class OuterJoin(TwoSided):
    """A left join, or a full one; a right join is a left one with its sides changed. `lookup`: each left row is to
    find one right row at most, so that keys may be equal only where their values are."""

    full: bool = False
    lookup: bool = False

    @property
    def columns(self) -> list[str]:
        return [*self.left.columns, *self.right.columns]


@dataclass(eq=False)
class SemiJoin(TwoSided):
    """EXISTS and IN, and with `anti` their opposites. `members` are the two sides of NOT IN, which a NULL on either
    side makes unknown; they are not among the conditions."""

    anti: bool = False
    members: list[tuple[Term, Term]] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        return self.left.columns

    @property
    def compared_by_in(self) -> list[tuple[Term, Term]]:
        """What IN or NOT IN compares."""
        return [*self.members, *(c.equal for c in self.conditions if c.of_in and c.equal is not None)]

    @property
    def terms(self) -> list[Term]:
        return [*super().terms, *(term for pair in self.members for term in pair)]


@dataclass(eq=False)
class UnionAll(Operator):
    """The children's rows under `names`; `picks` says, child by child, which of its columns stand for them."""

    children: list[Operator]
    picks: list[list[str]]
    names: list[str]

    @property
    def inputs(self) -> list[Operator]:
        return self.children

    @property
    def columns(self) -> list[str]:
        return self.names
