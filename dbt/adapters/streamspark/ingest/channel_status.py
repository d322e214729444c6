"""What an application is told of a channel."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

from dbt.adapters.streamspark.ingest.channel_state import ChannelState

SUCCESS = "SUCCESS"


@dataclass(frozen=True)
class ChannelStatus:
    """`status_code` is SUCCESS, else why the channel takes no more rows. Times are in UTC. Counts are of all rows that
    came through the channel since it was made. `server_avg_processing_latency` is the mean of seconds from append to
    commit since the channel was opened, None before the first commit and for a channel of another client."""

    database_name: str
    schema_name: str
    pipe_name: str
    channel_name: str
    status_code: str
    latest_committed_offset_token: str | None
    created_on: datetime
    rows_inserted_count: int
    rows_parsed_count: int
    rows_error_count: int
    last_error_offset_token_upper_bound: str | None
    last_error_message: str | None
    last_error_timestamp: datetime | None
    server_avg_processing_latency: float | None
    last_refreshed_on: datetime


def channel_status(
    table: str, state: ChannelState, now: float, status_code: str = SUCCESS, latency: float | None = None
) -> ChannelStatus:
    """`table` is the table's name; the parts that it leaves out are empty."""
    database, schema, name = name_parts(table)
    return ChannelStatus(
        database,
        schema,
        f"{name}-STREAMING",
        state.name,
        status_code,
        state.offset_token,
        moment(state.created_on),
        state.rows_inserted,
        state.rows_parsed,
        state.rows_error,
        state.last_error_token,
        state.last_error_message,
        None if state.last_error_on is None else moment(state.last_error_on),
        latency,
        moment(now),
    )


def name_parts(table: str) -> tuple[str, str, str]:
    """Catalog, schema and name.

    >>> name_parts("db.t"), name_parts("delta.`/a.b/t`")
    (('', 'db', 't'), ('', '', 'delta.`/a.b/t`'))
    """
    if table.startswith("delta.`"):
        return "", "", table
    parts = [part.strip("`") for part in table.split(".")]
    padded = ["", "", *parts][-3:]
    return padded[0], padded[1], padded[2]


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=timezone.utc)
