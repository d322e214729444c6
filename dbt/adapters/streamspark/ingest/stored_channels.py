"""The channels of a table as its log holds them, whoever opened them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from dbt.adapters.streamspark.changes.log import Commit, TableLog
from dbt.adapters.streamspark.changes.rewinds import REWINDS, restored_version
from dbt.adapters.streamspark.errors import StaleSource
from dbt.adapters.streamspark.ingest.channel_state import ChannelState, channel_of, domain_of, read_state
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError


def stored_channels(log: TableLog, version: int | None = None) -> dict[str, ChannelState]:
    """Channel name -> its newest state at `version`, the newest when none is given. No Spark job where the commit's
    checksum tells."""
    snapshot = log.snapshot(version)
    known = snapshot.domainMetadatasIfKnown()
    found = json.loads(_json(log, known.get() if known.isDefined() else snapshot.domainMetadata()))
    live = [one for one in found if not one.get("removed") and channel_of(one["domain"]) is not None]
    states = [read_state(one["domain"], one["configuration"]) for one in live]
    return {state.name: state for state in states}


def _json(log: TableLog, value: Any) -> str:
    return str(log._jvm.org.apache.spark.sql.delta.util.JsonUtils.mapper().writeValueAsString(value))


def standing_channel(log: TableLog, state: ChannelState, newest: int | None = None) -> ChannelState | None:
    """The channel as the table's rows have it, which a RESTORE takes back with them; None where they are gone, in a
    table that was replaced. Reads the commits since the state's own.

    Raises StreamingIngestError where rows were lost between the state's flush and its commit.
    """
    for version in range(log.version if newest is None else newest, -1, -1):
        try:
            commit = log.commit(version)
        except StaleSource:  # cleaned away, and with it whatever came this long before now
            return state
        if domain_of(state.name) in commit.domains:
            _check_flush(log, state, version)
            return state
        if commit.operation in REWINDS:
            return _before(log, state, commit)
    return state


def _before(log: TableLog, state: ChannelState, rewind: Commit) -> ChannelState | None:
    if rewind.operation != "RESTORE":
        return None
    version = restored_version(log, rewind)
    then = stored_channels(log, version).get(state.name)
    standing = None if then is None else standing_channel(log, then, version)
    return None if standing is None else replace(standing, client_sequencer=state.client_sequencer)


def _check_flush(log: TableLog, state: ChannelState, committed: int) -> None:
    for version in range(committed - 1, state.seen, -1):
        try:
            commit = log.commit(version)
        except StaleSource:
            return
        if commit.operation in REWINDS:
            raise StreamingIngestError(
                "InvalidChannelError",
                f"table {log.name}: a {commit.operation} (version {version}) came between a flush of channel "
                f"{state.name} and its commit (version {committed}), so rows before its token are missing. RESTORE "
                f"TABLE {log.name} TO VERSION AS OF {version} and open the channel again.",
            )
