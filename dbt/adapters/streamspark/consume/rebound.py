"""Columns of base tables that have another column's name: what a query gives is another, and no row was written."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.change_query import QueryInterval


def rebound(interval: QueryInterval) -> list[str]:
    """Those of the end that were others at the start (Schemas.rebound), with their tables."""
    tables = [(leaf.table.name, leaf.interval) for leaf in interval.leaves.values()]
    pairs = ((name, one.schemas.rebound(one.start)) for name, one in tables if one.start is not None)
    return [f"{table}.{column}" for table, columns in pairs for column in columns]
