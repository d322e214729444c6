"""A query that no rule covers: computed at both ends and compared as bags of rows."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.copies import bag_difference
from dbt.adapters.streamspark.changes.differentiate.delta import Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, START, Differentiation
from dbt.adapters.streamspark.changes.query.algebra import Opaque


def opaque(d: Differentiation, node: Opaque) -> Delta:
    return bag_difference(node.columns, d.types(node, END), d.text(node, START), d.text(node, END))
