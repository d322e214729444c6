"""The master rule: what a change touches, computed anew at both ends (notes on differentiation, rule AK)."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.streamspark.changes.differentiate.delta import Delta, difference
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, START, Differentiation
from dbt.adapters.streamspark.changes.differentiate.keys import Keys
from dbt.adapters.streamspark.changes.query.algebra import Term, Unary


def affected(d: Differentiation, node: Unary, keys: Keys, terms: Sequence[Term]) -> Delta | None:
    """The operator over its input's rows under the keys: minus those of the start, plus those of the end."""
    if keys.is_empty:
        return None
    before, after = (d.rows(node, [d.restricted(node.child, end, keys, terms)], end) for end in (START, END))
    return difference(node.columns, before, after)
