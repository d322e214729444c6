"""`drop_stream`: take a stream out of the catalog. Its base tables and the targets of its consumers stay."""

from __future__ import annotations

from dbt.adapters.streamspark.errors import ConsumptionRefused
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown
from dbt.adapters.streamspark.streams.names import table_sql


def drop_stream(scope: Scope, name: str, force: bool = False) -> Shown:
    """Facts `dropped` and `consumers`, which read it up to now. A stream made again under the name is another one: they
    would begin at its start.

    Raises UnknownName, and ConsumptionRefused where it has consumers, unless `force`.
    """
    entry = scope.stream(name)
    targets = [state.target for state in scope.readers(entry)]
    if targets and not force:
        raise ConsumptionRefused(
            f"stream {entry.name} is read by {', '.join(targets)}, whose offsets in it would be lost. Drop it all the "
            "same with force: true."
        )
    scope.spark.sql(f"drop view {table_sql(entry.name)}")
    return Shown({"dropped": entry.name, "consumers": targets})
