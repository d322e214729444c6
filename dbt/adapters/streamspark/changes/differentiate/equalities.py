"""Equalities between two relations, as keys: two rows that meet have one key, whatever the types of the two sides.

Where the types differ, a key is the value in the type in which Spark compares them: '1' and '01' are both 1. A value
that cannot be cast has the key NULL: either its row meets none, for another condition, or the query itself fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql.types import DataType, DecimalType

from dbt.adapters.streamspark.changes.differentiate.compared import cast_of, compared_as, is_ansi
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, Differentiation
from dbt.adapters.streamspark.changes.differentiate.keys import INTEGRAL, comparable_types
from dbt.adapters.streamspark.changes.query.algebra import Operator, SemiJoin, Term

Pair = tuple[Term, Term]


def in_one_type(
    d: Differentiation, left: Operator, right: Operator, pairs: Sequence[Pair]
) -> tuple[list[Term], list[Term]]:
    """The left and the right sides of equalities, both in the type in which Spark compares them."""
    if not pairs:
        return [], []
    types = _types(d, left, right, pairs)
    alike = [
        pair if comparable_types(*kinds) else _cast(d, left, right, pair)
        for pair, kinds in zip(pairs, types, strict=True)
    ]
    return [one for one, _ in alike], [other for _, other in alike]


def _types(
    d: Differentiation, left: Operator, right: Operator, pairs: Sequence[Pair]
) -> list[tuple[DataType, DataType]]:
    lefts, rights = zip(*pairs, strict=True)
    return list(zip(d.types(left, END, lefts), d.types(right, END, rights), strict=True))


def _cast(d: Differentiation, left: Operator, right: Operator, pair: Pair) -> Pair:
    equal = " = ".join(term.sql for term in pair)
    to = compared_as(d.ask(f"select {equal} as equal from {d.at(left, END)} cross join {d.at(right, END)}"))
    cast = cast_of(d.views.spark)
    one, other = (Term(f"{cast}({term.sql} as {to})", term.columns) for term in pair)
    return one, other


def compares_otherwise(d: Differentiation, node: SemiJoin) -> bool:
    """Whether IN compares in another type than `=`, by which it is computed: without ANSI mode it makes texts of a text
    and an int, while `=` makes ints of them."""
    pairs = [] if is_ansi(d.views.spark) else node.compared_by_in
    return bool(pairs) and not all(comparable_types(*kinds) for kinds in _types(d, node.left, node.right, pairs))


def written_alike(d: Differentiation, left: Operator, right: Operator, pairs: Sequence[Pair]) -> bool:
    """Whether no two values of a right side are equal to one of the left: '1' and '01' are, to 1."""
    return all(
        comparable_types(*kinds) or all(isinstance(kind, (*INTEGRAL, DecimalType)) for kind in kinds)
        for kinds in _types(d, left, right, pairs)
    )
