"""What an interval adds to the groups of a query whose aggregates add up (differentiate/additive.py)."""

from __future__ import annotations

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.change_query import QueryInterval
from dbt.adapters.streamspark.changes.differentiate.additive import additive
from dbt.adapters.streamspark.changes.differentiate.views import Views


def group_changes(interval: QueryInterval) -> DataFrame:
    """The query's columns and `Additive.hidden`, a row for each group: all that there are at the end where the interval
    has no start, else what the interval adds to those that it changes."""
    with Views(interval.query.spark) as views:
        d = interval.differentiation(interval.lowered, views)
        groups = additive(interval.lowered)
        assert groups is not None
        return d.ask(groups.groups(d) if interval.start is None else groups.difference(d))
