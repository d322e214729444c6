"""The changes of a query as a bag: for those who tell its rows apart by a key of the rows' own."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.change_query import QueryInterval
from dbt.adapters.streamspark.changes.differentiate.delta import Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, Differentiation
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.changes.equal_values import comparable
from dbt.adapters.streamspark.changes.formats import delta_of
from dbt.adapters.streamspark.changes.projection import quoted

TYPE = "_change_type"


def bag_changes(interval: QueryInterval, together: Sequence[str]) -> DataFrame | None:
    """bag(query at the end) - bag(query at the start), which is empty where the interval has no start: the query's
    columns and TYPE, `insert` or `delete`; a row comes as often as there are more, or fewer, of it. What leads from one
    value to another in between cancels out, by one look at the values; minimising by ids sorts all of them
    (docs/decisions/0042). Rows that have the columns `together` in common are in one task.

    None for rows that cannot be grouped by their values: maps and variants.
    """
    if comparable("", interval.lowered.schema):
        return None
    with Views(interval.query.spark) as views:
        d = interval.differentiation(interval.lowered, views)
        return d.ask(_sql(interval, d, delta_of(interval, d), together))


def _sql(interval: QueryInterval, d: Differentiation, delta: Delta | None, together: Sequence[str]) -> str:
    found = interval.lowered
    pairs = zip(found.schema.names, found.ours, strict=True)
    columns = ", ".join(f"{ours} as {quoted(name)}" for name, ours in pairs)
    if delta is None:  # only the columns are needed: no table is listed for them
        none = interval.differentiation(found, d.views, dry=True)
        return f"select {columns}, 'delete' as {TYPE} from {none.at(found.root, END)} where false"
    if delta.one_sided:
        return f"select {columns}, if(__sign = 1, 'insert', 'delete') as {TYPE} from {delta.sql}"
    names, keys = (", ".join(map(quoted, some)) for some in (found.schema.names, together))
    signed = f"select /*+ repartition({keys}) */ {columns}, __sign from {delta.sql}"
    counted = f"select {names}, sum(__sign) as __count from ({signed}) group by {names}"
    each = "explode(array_repeat(if(__count > 0, 'insert', 'delete'), cast(abs(__count) as int)))"
    return f"select {names}, {each} as {TYPE} from ({counted})"
