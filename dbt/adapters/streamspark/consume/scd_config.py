"""What a model of apply_changes asks for beyond its unique_key (validated in streams/config.py)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ScdConfig:
    """`columns_to_update` is the name of a column that holds names, or the names. The last four are the names of
    columns that the target has more than the SELECT. The defaults make a copy of the source, one row per key."""

    unique_key: tuple[str, ...] = ()
    scd_type: int = 1
    sequence_by: str | None = None
    apply_as_deletes: str | None = None
    apply_as_truncates: str | None = None
    soft_deletes: bool = False
    columns: tuple[str, ...] = ()
    except_columns: tuple[str, ...] = ()
    track_history_columns: tuple[str, ...] = ()
    track_history_except_columns: tuple[str, ...] = ()
    ignore_null_updates: bool | tuple[str, ...] = False
    columns_to_update: str | tuple[str, ...] = ()
    valid_from: str = "valid_from"
    valid_to: str = "valid_to"
    is_current: str = "is_current"
    is_deleted: str = "is_deleted"

    @property
    def is_plain(self) -> bool:
        """The target is to be a copy of the source: apply_changes.py does it."""
        return self == ScdConfig(unique_key=self.unique_key)

    @property
    def partial(self) -> bool:
        """A row may leave some columns as they are."""
        return bool(self.ignore_null_updates or self.columns_to_update)

    @property
    def history(self) -> bool:
        return self.scd_type == 2
