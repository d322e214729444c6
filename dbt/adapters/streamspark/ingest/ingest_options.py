"""How a client buffers what it is sent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError

_SECONDS = {"ms": 0.001, "millisecond": 0.001, "s": 1.0, "": 1.0, "second": 1.0, "m": 60.0, "minute": 60.0}
_LAG = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")
SHORTEST, LONGEST = 0.1, 600.0
MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class IngestOptions:
    """`max_client_lag`: seconds (0.1 to 600) that rows wait at most before they are written, or a text such as
    `30 seconds`. `flush_bytes`: written earlier where a table's rows take that much memory. `max_buffered_bytes`: what
    the rows of all channels may take at most until they are committed; `when_full`, what becomes of a call beyond
    that: `block` until there is room, or `raise` ReceiverSaturated.

    Raises StreamingIngestError (InvalidArgument).
    """

    max_client_lag: float | str = 1.0
    flush_bytes: int = 32 * MEGABYTE
    max_buffered_bytes: int = 256 * MEGABYTE
    when_full: Literal["block", "raise"] = "block"

    def __post_init__(self) -> None:
        if not SHORTEST <= self.lag <= LONGEST:
            raise _invalid(f"max_client_lag is {self.max_client_lag}: it is from {SHORTEST} to {LONGEST:.0f} seconds.")
        if not 0 < self.flush_bytes <= self.max_buffered_bytes:
            raise _invalid(
                f"flush_bytes ({self.flush_bytes}) is above 0 and not above max_buffered_bytes "
                f"({self.max_buffered_bytes}), else rows would never be written for their size."
            )
        if self.when_full not in ("block", "raise"):
            raise _invalid(f"when_full is {self.when_full!r}: it is 'block' or 'raise'.")

    @property
    def lag(self) -> float:
        """`max_client_lag` in seconds."""
        if not isinstance(self.max_client_lag, str):
            return float(self.max_client_lag)
        match = _LAG.fullmatch(self.max_client_lag.strip().lower())
        unit = _unit(match.group(2)) if match else None
        if match is None or unit is None:
            raise _invalid(f"max_client_lag is {self.max_client_lag!r}: say seconds, or a text such as '30 seconds'.")
        return float(match.group(1)) * unit


def _unit(text: str) -> float | None:
    """Seconds of a unit, in singular or plural."""
    return _SECONDS.get(text, _SECONDS.get(text.removesuffix("s")))


def _invalid(message: str) -> StreamingIngestError:
    return StreamingIngestError("InvalidArgument", message)
