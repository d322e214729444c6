"""What a table keeps of a channel: one domain of its metadata, which the log's cleanup keeps (decision 0021)."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError

DOMAIN = "streamspark.channel."
FORMAT = 1
LIFE_SECONDS = 30 * 24 * 60 * 60  # document 004: inactive channels go after 30 days


@dataclass(frozen=True)
class ChannelState:
    """Times are seconds since 1970. `handle` is the opening that may write, `client_sequencer` counts openings and
    `row_sequencer` commits with rows; `seen` is the table's version at which the state was made."""

    name: str
    handle: str = ""
    client: str = ""
    client_sequencer: int = 0
    row_sequencer: int = 0
    offset_token: str | None = None
    created_on: float = 0.0
    active_on: float = 0.0
    seen: int = -1
    rows_inserted: int = 0
    rows_parsed: int = 0
    rows_error: int = 0
    last_error_message: str | None = None
    last_error_token: str | None = None
    last_error_on: float | None = None

    @property
    def domain(self) -> str:
        return domain_of(self.name)

    def to_json(self) -> str:
        return json.dumps({"v": FORMAT, **asdict(self)}, sort_keys=True)

    def expired(self, now: float) -> bool:
        return now - self.active_on > LIFE_SECONDS

    def opened(self, handle: str, client: str, now: float, seen: int) -> ChannelState:
        """The state after another opening: the rows and the token stay."""
        count = self.client_sequencer + 1
        return replace(self, handle=handle, client=client, client_sequencer=count, active_on=now, seen=seen)

    def with_token(self, token: str) -> ChannelState:
        return replace(self, offset_token=token)


def domain_of(channel: str) -> str:
    """The domain of a channel's name.

    >>> domain_of("a"), channel_of("streamspark.channel.a"), channel_of("delta.rowTracking")
    ('streamspark.channel.a', 'a', None)
    """
    return DOMAIN + channel


def channel_of(domain: str) -> str | None:
    return domain[len(DOMAIN) :] if domain.startswith(DOMAIN) else None


def read_state(domain: str, text: str) -> ChannelState:
    """Raises StreamingIngestError for a state that a later release has written."""
    fields = json.loads(text)
    if fields.pop("v") != FORMAT:
        raise StreamingIngestError(
            "InvalidChannelError",
            f"channel {channel_of(domain)} was written by a later release than this one: upgrade dbt-streamspark.",
        )
    return ChannelState(**fields)
