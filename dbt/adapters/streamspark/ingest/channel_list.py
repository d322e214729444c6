"""The channels of tables, for people: SHOW CHANNELS and DESCRIBE CHANNEL of document 004, DROP, and expiry."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import InvalidQuery, MissingSource
from dbt.adapters.streamspark.ingest.channel_state import ChannelState
from dbt.adapters.streamspark.ingest.channel_status import channel_status, moment, name_parts
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.ingest.ingest_options import IngestOptions
from dbt.adapters.streamspark.ingest.landing_table import landing_table
from dbt.adapters.streamspark.ingest.memory_bound import MemoryBound
from dbt.adapters.streamspark.ingest.stored_channels import stored_channels
from dbt.adapters.streamspark.ingest.table_channels import Clock, TableChannels

Row = dict[str, Any]
FIELDS = (
    "created_on",
    "name",
    "database_name",
    "schema_name",
    "table_name",
    "client_sequencer",
    "row_sequencer",
    "offset_token",
)


@dataclass(frozen=True)
class ChannelList:
    """`clock` gives seconds since 1970."""

    spark: SparkSession
    clock: Clock = time.time

    def show(self, tables: Iterable[str]) -> list[Row]:
        """A dict of FIELDS for each channel; what is no Delta table has none."""
        return [_shown(table, state) for table in tables for state in self._channels(table)]

    def describe(self, table: str, channel: str) -> Row:
        """The channel's status and what the table keeps of it. Raises StreamingIngestError (ChannelNotFound)."""
        found = next((state for state in self._channels(table) if state.name == channel), None)
        if found is None:
            raise StreamingIngestError(
                "ChannelNotFound",
                f"table {table} has no channel {channel}: never opened, dropped, or idle for 30 days.",
            )
        status = asdict(channel_status(table, found, self.clock()))
        return {**status, **_shown(table, found), "client": found.client, "active_on": moment(found.active_on)}

    def drop(self, table: str, channel: str) -> None:
        """Forgets the channel and its token. Raises StreamingIngestError (ChannelNotFound)."""
        self.describe(table, channel)
        self._writer(table).drop([channel])

    def expire(self, tables: Iterable[str]) -> list[Row]:
        """Forgets the channels that were idle for 30 days: dicts of `table_name` and `name`."""
        with_channels = (table for table in tables if self._states(table))
        return [{"table_name": t, "name": name} for t in with_channels for name in self._writer(t).expire()]

    def _writer(self, table: str) -> TableChannels:
        memory = MemoryBound(IngestOptions())
        return TableChannels(landing_table(self.spark, table), "run-operation", memory, self.clock)

    def _channels(self, table: str) -> list[ChannelState]:
        return [state for state in self._states(table) if not state.expired(self.clock())]

    def _states(self, table: str) -> list[ChannelState]:
        try:
            found = stored_channels(TableLog(self.spark, table))
        except (MissingSource, InvalidQuery):  # a view, or a table of another format or catalog
            return []
        return [found[name] for name in sorted(found)]


def _shown(table: str, state: ChannelState) -> Row:
    values = (
        moment(state.created_on),
        state.name,
        *name_parts(table),
        state.client_sequencer,
        state.row_sequencer,
        state.offset_token,
    )
    return dict(zip(FIELDS, values, strict=True))
