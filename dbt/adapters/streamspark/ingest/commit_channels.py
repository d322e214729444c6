"""The one commit of a flush: rows of many channels, and of each channel how far it has come (decision 0021)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.sequences import as_java, as_scala
from dbt.adapters.streamspark.ingest.channel_state import ChannelState, domain_of
from dbt.adapters.streamspark.steps import step


def commit_channels(
    log: TableLog,
    states: Sequence[ChannelState],
    frame: DataFrame | None = None,
    dropped: Iterable[str] = (),
    flush: str = "",
) -> int:
    """Commits on the snapshot that `log` holds, and gives the version. `frame` are the rows, in one task, so that they
    keep their order; `dropped` names channels to forget; `flush` is an id by which the commit is known again.

    Raises Delta's own ConcurrentTransactionException where another commit since that snapshot has one of the channels,
    MetadataChangedException where it has another schema or other properties, and what writing raises.
    """
    transaction, actions = log.transaction(), log._jvm.java.util.ArrayList()
    if frame is not None:
        step("before_flush")
        actions.addAll(as_java(log, transaction.writeFiles(frame.coalesce(1)._jdf)))
    for action in _domains(log, states, dropped):
        actions.add(action)
    step("before_commit")
    version = transaction.commit(as_scala(log, actions), _operation(log, states, dropped, flush))
    step("after_commit")
    return int(version)


def flush_of(info: dict[str, Any]) -> str | None:
    """The id of the flush that wrote a commit's `info`, None for a commit of something else."""
    try:
        found = json.loads(info.get("userMetadata") or "null")
        return str(found["streamspark"]["flush"])
    except (ValueError, TypeError, KeyError):  # somebody's own text
        return None


def _domains(log: TableLog, states: Sequence[ChannelState], dropped: Iterable[str]) -> list[Any]:
    make = log._jvm.org.apache.spark.sql.delta.actions.DomainMetadata
    return [
        *(make(state.domain, state.to_json(), False) for state in states),
        *(make(domain_of(name), "", True) for name in dropped),
    ]


def _operation(log: TableLog, states: Sequence[ChannelState], dropped: Iterable[str], flush: str) -> Any:
    """For people who read the history; what counts is in the domains."""
    tokens = {state.name: state.offset_token for state in states}
    text = json.dumps({"streamspark": {"flush": flush, "tokens": tokens, "dropped": list(dropped)}}, sort_keys=True)
    none, jvm = log._none, log._jvm
    metadata = jvm.scala.Option.apply(text)
    append = jvm.org.apache.spark.sql.SaveMode.Append
    write = jvm.org.apache.spark.sql.delta.DeltaOperations.Write
    return write(append, none, none, metadata, none, none, none, none, none)
