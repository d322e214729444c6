"""Equalities between two relations whose sides may stand for each other."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql.types import DecimalType

from dbt.adapters.streamspark.changes.differentiate.differentiation import END, Differentiation
from dbt.adapters.streamspark.changes.differentiate.keys import INTEGRAL, comparable_types
from dbt.adapters.streamspark.changes.query.algebra import Operator, Term


def of_one_type(
    d: Differentiation, left: Operator, right: Operator, pairs: Sequence[tuple[Term, Term]]
) -> tuple[list[Term], list[Term]]:
    """The sides of those equalities that compare values of one type: where Spark casts one side, equal keys need
    not be equal values."""
    if not pairs:
        return [], []
    lefts, rights = [one for one, _ in pairs], [other for _, other in pairs]
    types = zip(d.types(left, END, lefts), d.types(right, END, rights), strict=True)
    same = [pair for pair, kinds in zip(pairs, types, strict=True) if comparable_types(*kinds)]
    return [one for one, _ in same], [other for _, other in same]


def written_alike(d: Differentiation, left: Operator, right: Operator, pairs: Sequence[tuple[Term, Term]]) -> bool:
    """Whether no two values of a right side are equal to one of the left: '1' and '01' are, to 1."""
    lefts, rights = (
        d.types(node, END, sides) for node, sides in zip((left, right), zip(*pairs, strict=True), strict=True)
    )
    return all(
        comparable_types(*kinds) or all(isinstance(kind, (*INTEGRAL, DecimalType)) for kind in kinds)
        for kinds in zip(lefts, rights, strict=True)
    )
