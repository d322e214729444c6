"""What a model of apply_changes with an order, a history or rules of its own selects and keeps: names and types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType

from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.consume.as_type import as_type
from dbt.adapters.streamspark.consume.columns import Column, struct_type
from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from dbt.adapters.streamspark.consume.selection import Selection

VERSION, TIME, ROW_ID = "_commit_version", "_commit_timestamp", "_row_id"
SEQUENCE = "__sequence"
MEMORY = "__history"


@dataclass(frozen=True)
class Scd(Selection):
    """`target`: the columns that the target has, where there is one; the rows then take its types.
    `one_stream`: the rows are of one; else neither their commits nor their ids can be compared.

    Raises ConsumptionRefused for configured columns that the SELECT has not, for a history without an order, for
    columns that the target should have twice, or lacks.
    """

    config: ScdConfig
    target: tuple[Column, ...] | None = None
    one_stream: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, names in self._configured():
            self.check_selected(key, names)
        _ = self.sequence
        self._check_tracked()
        self._check_extra()
        self._check_memory()
        self.check_kind(self.config, self.target or ())

    def _configured(self) -> Iterator[tuple[str, Sequence[str]]]:
        """The keys that name columns of the SELECT, with the names."""
        config = self.config
        for key in ("columns", "except_columns", "track_history_columns", "track_history_except_columns"):
            yield key, getattr(config, key)
        for key in ("sequence_by", "columns_to_update", "ignore_null_updates"):
            value = getattr(config, key)
            yield key, (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()

    def _check_tracked(self) -> None:
        keys = _lower(self.unique_key)
        told = {column.name.lower() for column in super().data if self._is_stored(column)} - keys
        bad = [name for name in self.config.track_history_columns if name.lower() not in told]
        if bad:
            raise self.refused(
                f"its track_history_columns has {', '.join(bad)}, of which no version can begin: it is a key, or the "
                "table does not keep it. Leave it out, or keep it"
            )

    def _check_extra(self) -> None:
        data = {column.name.lower() for column in self.data}
        clash = [column.name for column in self.extra if column.name.lower() in data]
        if clash:
            raise self.refused(
                f"its SELECT has {', '.join(clash)}, and apply_changes adds a column of that name. Name the one in the "
                f"SELECT otherwise{_other_name(clash[0], self.config)}"
            )
        here = None if self.target is None else {column.name.lower() for column in self.target}
        needed = [*self.keys, *self.extra]
        missing = [column.name for column in needed if here is not None and column.name.lower() not in here]
        if missing:
            raise self.refused(
                f"its table has no column {', '.join(missing)}, which this configuration needs. Run it with "
                "--full-refresh"
            )

    def _check_memory(self) -> None:
        """Events that a row does not tell are kept as JSON, whose objects have texts as keys."""
        bad = [column.name for column in self.data if _has_odd_keys(column)]
        if bad and self.remembers:
            raise self.refused(
                f"its column {', '.join(bad)} is a map whose keys are no strings, which cannot be kept in order. Leave "
                "it out, or select map_entries of it"
            )

    @cached_property
    def late(self) -> bool:
        """Rows may come later than their place in the order: it is told by a column that the source writes."""
        return self.config.sequence_by is not None and self.config.sequence_by.lower() not in self.metadata

    @cached_property
    def remembers(self) -> bool:
        """The target keeps, in column MEMORY, what its rows do not tell."""
        return self.late and (self.config.history or self.config.partial or self.config.soft_deletes)

    @cached_property
    def sequence(self) -> Column | None:
        """The column that orders the changes of a key; None where there is none but the change set's own halves."""
        name = self.config.sequence_by or (TIME if self.config.history else VERSION)
        found = self.named.get(name.lower())
        if found is None or (self.config.sequence_by is None and self.dialect is not DIALECTS["delta"]):
            if self.config.history:
                raise self.refused(
                    f"scd_type 2 needs sequence_by, a column that orders the changes of a key, or {TIME} in its "
                    "SELECT, as a stream with metadata_columns='delta' gives it"
                )
            self._check_truncates()
            return None
        return found

    def _check_truncates(self) -> None:
        """What has no place is neither before nor after it."""
        if self.config.apply_as_truncates is not None:
            raise self.refused(
                f"apply_as_truncates needs sequence_by, a column that orders the changes, or {VERSION} in its "
                "SELECT, as a stream with metadata_columns='delta' gives it"
            )

    @property
    def sequence_type(self) -> str:
        """The target's, where it has one."""
        own = self.sequence.type if self.sequence is not None else "bigint"
        held = self._target_column(self.config.valid_from if self.config.history else self.sequence_column)
        return held.type if held is not None else own

    @cached_property
    def sequence_column(self) -> str:
        """Where a target of scd_type 1 has a row's place in the order."""
        stored = {column.name.lower() for column in super().data if self._is_stored(column)}
        own = self.sequence.name if self.sequence is not None else ""
        return own if own.lower() in stored else SEQUENCE

    @cached_property
    def data(self) -> list[Column]:
        """The columns of the SELECT that the target has, with the target's types."""
        stored = [column for column in super().data if self._is_stored(column)]
        if self.target is None:
            return stored
        return [held for column in stored if (held := self._target_column(column.name)) is not None]

    def _is_stored(self, column: Column) -> bool:
        name = column.name.lower()
        only, without = (_lower(names) for names in (self.config.columns, self.config.except_columns))
        return name in _lower(self.unique_key) or (name not in without and (not only or name in only))

    def _target_column(self, name: str) -> Column | None:
        return next((column for column in self.target or () if column.name.lower() == name.lower()), None)

    @cached_property
    def stored_keys(self) -> list[Column]:
        """The key, with the target's types."""
        return [column for name in self.unique_key for column in self.data if column.name.lower() == name.lower()]

    @cached_property
    def values(self) -> list[Column]:
        """The data without the key."""
        keys = _lower(self.unique_key)
        return [column for column in self.data if column.name.lower() not in keys]

    @cached_property
    def told(self) -> list[Column]:
        """What an event tells: the data, and where events are remembered, the columns that only the target has, as a
        SELECT that lacks one may have it again."""
        own = _lower([column.name for column in (*self.data, *self.extra)])
        held = [column for column in self.target or () if column.name.lower() not in own and not _has_odd_keys(column)]
        return [*self.data, *(held if self.remembers else ())]

    @property
    def settable(self) -> list[Column]:
        """What an event may set, without the key."""
        keys = _lower(self.unique_key)
        return [column for column in self.told if column.name.lower() not in keys]

    @cached_property
    def tracked(self) -> list[Column]:
        """The columns whose change begins a version."""
        only, without = (
            _lower(names) for names in (self.config.track_history_columns, self.config.track_history_except_columns)
        )
        return [c for c in self.values if c.name.lower() not in without and (not only or c.name.lower() in only)]

    @property
    def extra(self) -> list[Column]:
        """The columns that the target has more."""
        config, boolean = self.config, "boolean"
        order = self.sequence.type if self.sequence is not None else "bigint"
        found = [Column(config.valid_from, order), Column(config.valid_to, order), Column(config.is_current, boolean)]
        if not config.history:
            found = [Column(SEQUENCE, order)] if self.late and self.sequence_column == SEQUENCE else []
        found += [Column(config.is_deleted, boolean)] if config.soft_deletes else []
        return found + ([Column(MEMORY, "string")] if self.remembers else [])

    def value(self, column: Column) -> str:
        """SQL of a stored column over the SELECT's row, in the target's type."""
        own = self.named.get(column.name.lower())
        return f"cast(null as {column.type})" if own is None else as_type(own.quoted, own, column)

    @property
    def data_type(self) -> str:
        """That of an event's data."""
        return struct_type(self.told)

    def into(self, target: Sequence[Column]) -> Scd:
        """The same for a target that is there."""
        return replace(self, target=tuple(target))


def _other_name(clash: str, config: ScdConfig) -> str:
    keys = [key for key in ("valid_from", "valid_to", "is_current", "is_deleted") if getattr(config, key) == clash]
    return f", or the added one by {keys[0]}='...'" if keys else ""


def _lower(names: Sequence[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _has_odd_keys(column: Column) -> bool:
    return column.data_type is not None and _odd_keys(column.data_type)


def _odd_keys(data_type: DataType) -> bool:
    if isinstance(data_type, MapType):
        return not isinstance(data_type.keyType, StringType) or _odd_keys(data_type.valueType)
    if isinstance(data_type, ArrayType):
        return _odd_keys(data_type.elementType)
    return isinstance(data_type, StructType) and any(_odd_keys(field.dataType) for field in data_type.fields)
