"""Groups whose keys hold maps: Spark groups them, and compares no two of them."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.differentiation import END, Differentiation
from dbt.adapters.streamspark.changes.query.algebra import Aggregate, Operator


def groups_maps(d: Differentiation, root: Operator) -> bool:
    """Whether a group's key in the query is a map or has one inside."""
    if not _may_have_maps(d, root):
        return False  # no question to Spark
    grouped = [node for node in root.walk() if isinstance(node, Aggregate) and node.keys]
    kinds = [kind for node in grouped for kind in d.types(node.child, END, [term for _, term in node.keys])]
    return any("map<" in kind.simpleString() for kind in kinds)


def _may_have_maps(d: Differentiation, root: Operator) -> bool:
    """A map comes from a table, or from a function that says so: map(), str_to_map(), from_json(…, 'map<…>')."""
    if any("map<" in leaf.interval.schemas.schema.simpleString() for leaf in d.leaves.values()):
        return True
    return any("map" in term.sql.lower() for node in root.walk() for term in node.terms)
