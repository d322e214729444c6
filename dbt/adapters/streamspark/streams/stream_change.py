"""What is to be done with a stream, and how it reacts to a changed configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dbt.adapters.streamspark.errors import InvalidStreamConfig, StaleSource
from dbt.adapters.streamspark.streams.config import NOW, StreamConfig
from dbt.adapters.streamspark.streams.definition import StreamDefinition

CREATE, REPLACE, ALTER, KEEP = "create", "replace", "alter", "keep"


@dataclass(frozen=True)
class StreamChange:
    """`action` says what is to be done, `definition` what the stream is then, `sql` the text of its view (None
    when the view cannot be made any more and stays as it is), `notes` what the user should know."""

    action: str
    definition: StreamDefinition
    sql: str | None
    notes: tuple[str, ...] = ()

    @classmethod
    def with_view(
        cls, action: str, definition: StreamDefinition, view_sql: Callable[[], str], notes: tuple[str, ...] = ()
    ) -> StreamChange:
        """`view_sql` gives the text of the view. Where the view cannot be made any more, the stream is kept, its
        consumers being maybe far ahead; raises StaleSource for one that was to be altered."""
        try:
            return cls(action, definition, view_sql(), notes)
        except StaleSource:  # the snapshot of the offset's version is gone, and in a clone maybe its commit
            if action == ALTER:
                raise
            return cls(KEEP, definition, None, notes)

    @property
    def properties(self) -> Mapping[str, str]:
        return self.definition.to_properties()


def reaction(
    name: str, config: StreamConfig, existing: StreamDefinition, changed: Mapping[str, tuple[Any, Any]]
) -> tuple[str, tuple[str, ...]]:
    """KEEP or ALTER, and what to tell about it. Raises InvalidStreamConfig where a change is to fail."""
    notes = _start_notes(config, existing)
    if not changed:
        return KEEP, notes
    told = "; ".join(f"{key}: {old!r} -> {new!r}" for key, (old, new) in changed.items())
    if config.on_configuration_change == "fail":
        raise InvalidStreamConfig(
            f"stream {name} has changed ({told}) and on_configuration_change is 'fail'. Set it to 'apply' to "
            "keep the offset under the new configuration, or run with --full-refresh to start at now."
        )
    if config.on_configuration_change == "continue":
        return KEEP, (*notes, f"stays as it was (on_configuration_change): {told}")
    return ALTER, (*notes, f"altered, offset kept: {told}")


def _start_notes(config: StreamConfig, existing: StreamDefinition) -> tuple[str, ...]:
    if config.start == NOW or str(config.start) == existing.start_point:
        return ()
    return (f"starts {existing.start_point} still; --full-refresh makes it start {config.start}",)
