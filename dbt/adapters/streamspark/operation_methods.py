"""What the macros of `dbt run-operation` ask the adapter: each handed on to `operate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.base.meta import AdapterMeta
from dbt_common.invocation import get_invocation_id
from jinja2 import Undefined
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.errors import InvalidArgument
from dbt.adapters.streamspark.graph import project_of
from dbt.adapters.streamspark.operate.advance_stream import advance_stream
from dbt.adapters.streamspark.operate.audit_consumer import audit_consumer
from dbt.adapters.streamspark.operate.consumer_history import consumer_history
from dbt.adapters.streamspark.operate.describe_stream import describe_stream
from dbt.adapters.streamspark.operate.drop_stream import drop_stream
from dbt.adapters.streamspark.operate.explain_changes import explain_changes
from dbt.adapters.streamspark.operate.preview_consume import preview_consume
from dbt.adapters.streamspark.operate.rewind_consumer import rewind_consumer
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.show_streams import show_streams
from dbt.adapters.streamspark.operate.shown import FORMATS, Shown, one_of
from dbt.adapters.streamspark.operate.stale_offsets import rows_sql, stale_offsets
from dbt.adapters.streamspark.operate.stream_backlog import stream_backlog
from dbt.adapters.streamspark.operate.stream_has_data import stream_has_data
from dbt.adapters.streamspark.operate.vacuum_sources import vacuum_sources

OPERATIONS: dict[str, Callable[..., Shown]] = {
    "show_streams": show_streams,
    "describe_stream": describe_stream,
    "stream_has_data": stream_has_data,
    "stream_backlog": stream_backlog,
    "preview_consume": preview_consume,
    "explain_changes": explain_changes,
    "advance_stream": advance_stream,
    "rewind_consumer": rewind_consumer,
    "consumer_history": consumer_history,
    "audit_consumer": audit_consumer,
    "vacuum_sources": vacuum_sources,
    "drop_stream": drop_stream,
}
COMMITS = (
    "stream_has_data",
    "advance_stream",
    "rewind_consumer",
)  # into a target's log, and say by which run


def _check_given(operation: str, arguments: Mapping[str, Any]) -> None:
    """Raises InvalidArgument for a parameter of the operation's macro that was not given."""
    missing = [str(value._undefined_name) for value in arguments.values() if isinstance(value, Undefined)]
    if missing:
        example = f"--args '{{{missing[0]}: ...}}'"
        raise InvalidArgument(f"{operation} does not say {' and '.join(missing)}. Give it: {example}.")


class OperationMethods(metaclass=AdapterMeta):
    """Mixed into the adapter."""

    def spark(self) -> SparkSession:
        raise NotImplementedError

    def _errors(self, doing: str) -> AbstractContextManager[None]:
        raise NotImplementedError

    @available.parse_none
    def operate(
        self,
        operation: str,
        arguments: Mapping[str, Any],
        format: str,
        graph: Mapping[str, Any],
        schemas: Mapping[str, Any],
    ) -> dict[str, str]:
        """Run an operation: what to print is in `output`, and why it failed, if it did, in `failure`. `graph` is dbt's,
        `schemas` has the profile's (`profile`), and the one asked for or None (`asked`)."""
        with self._errors(operation):
            _check_given(operation, arguments)
            one_of("format", format, FORMATS)
            scope = Scope(self.spark(), project_of(graph, schemas["profile"]), schemas.get("asked"))
            invocation = {"invocation": get_invocation_id()} if operation in COMMITS else {}
            shown = OPERATIONS[operation](scope, **arguments, **invocation)
            return {"output": shown.render(format), "failure": shown.failure}

    @available.parse(lambda *args, **kwargs: "")
    def stream_not_stale(self, model: Any, days: float, graph: Mapping[str, Any], schema: str) -> str:
        """SQL of a row for each offset in the stream `model` that is stale, or will be within `days`."""
        with self._errors(f"test of {model}"):
            scope = Scope(self.spark(), project_of(graph, schema))
            return rows_sql(stale_offsets(scope, model.render(), days))
