"""The master rule: what a change touches, computed anew at both ends (docs/concepts/change-queries.md)."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.streamspark.changes.differentiate.delta import Delta, difference
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, START, Differentiation
from dbt.adapters.streamspark.changes.differentiate.keys import Keys
from dbt.adapters.streamspark.changes.query.algebra import Operator, Term


def affected(d: Differentiation, node: Operator, keys: Keys, *terms: Sequence[Term]) -> Delta | None:
    """The operator over its inputs' rows under the keys, which `terms` tell of each input: minus those of the start,
    plus those of the end."""
    if keys.is_empty:
        return None
    sides = list(zip(node.inputs, terms, strict=True))
    before, after = (
        d.rows(node, [d.restricted(child, end, keys, own) for child, own in sides], end) for end in (START, END)
    )
    return difference(node.columns, before, after)
