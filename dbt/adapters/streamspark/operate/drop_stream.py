"""`drop_stream`: take a stream out of the catalog. Its base tables and the targets of its consumers stay; what the
tables kept for its sake they keep no longer."""

from __future__ import annotations

from dbt.adapters.streamspark.errors import ConsumptionRefused, InvalidArgument, StreamsparkError
from dbt.adapters.streamspark.operate.holds import holds
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown
from dbt.adapters.streamspark.streams.base_table import release
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.names import table_sql
from dbt.adapters.streamspark.streams.source import open_table


def drop_stream(scope: Scope, name: str, force: bool = False) -> Shown:
    """Facts `dropped`, `consumers`, which read it up to now, and `retention_restored`: the base tables that nothing
    else reads, and that keep files and log again for as long as before a stream had that raised. A stream made again
    under the name is another one: its consumers would begin at its start.

    Raises UnknownName, InvalidArgument, and ConsumptionRefused where it has consumers, unless `force`.
    """
    if not isinstance(force, bool):
        raise InvalidArgument(f"force = {force!r} is neither true nor false.")
    entry = scope.stream(name)
    targets = [state.target for state in scope.readers(entry)]
    if targets and not force:
        raise ConsumptionRefused(
            f"stream {entry.name} is read by {', '.join(targets)}, whose offsets in it would be lost. Drop it all the "
            "same with force: true."
        )
    scope.spark.sql(f"drop view {table_sql(entry.name)}")
    return Shown({"dropped": entry.name, "consumers": targets, "retention_restored": _released(scope, entry.stream)})


def _released(scope: Scope, stream: StreamDefinition) -> list[str]:
    """Nothing is taken back while nobody knows who needs it."""
    try:
        needed = {hold.log.path for hold in holds(scope)[0]}
        logs = [open_table(scope.spark, stream.id, table, stream.start.timestamp) for table in stream.start.tables]
    except StreamsparkError:
        return []
    return [log.name for log in logs if log.path not in needed and release(log)]
