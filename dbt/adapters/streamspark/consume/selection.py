"""What a model of apply_changes selects: change rows of keys, in one of the dialects of metadata columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS, Dialect
from dbt.adapters.streamspark.consume.columns import Column
from dbt.adapters.streamspark.consume.other_kind import other_kind
from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from dbt.adapters.streamspark.errors import ConsumptionRefused


@dataclass(frozen=True)
class Selection:
    """One model's change set: `columns` of its SELECT, `source` the relation that holds it (SQL), `unique_key`.

    Raises ConsumptionRefused when the SELECT lacks the key or tells no change types.
    """

    model: str
    source: str
    columns: tuple[Column, ...]
    unique_key: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.unique_key:
            raise self.refused("apply_changes needs a unique_key: the columns that tell rows apart")
        self.check_selected("unique_key", self.unique_key)
        _ = self.dialect

    def check_selected(self, config: str, names: Iterable[str]) -> None:
        """Raises ConsumptionRefused when `names`, which a key of the configuration holds, are not in the SELECT."""
        missing = [name for name in names if name.lower() not in self.named]
        if missing:
            raise self.refused(f"its {config} has {', '.join(missing)}, which its SELECT has not")

    @property
    def named(self) -> Mapping[str, Column]:
        """The columns by their names in lower case."""
        return {column.name.lower(): column for column in self.columns}

    @property
    def dialect(self) -> Dialect:
        """Known by its change type column, which comes first in each."""
        found = [d for d in DIALECTS.values() if d.columns[0][0].lower() in self.named]
        if len(found) == 1:
            return found[0]
        types = ", ".join(d.columns[0][0] for d in DIALECTS.values())
        what = "several change type columns" if found else "no change type column"
        raise self.refused(f"its SELECT has {what}; apply_changes needs one of {types}, as the stream gives it")

    @property
    def metadata(self) -> frozenset[str]:
        """The names of the metadata columns, in lower case."""
        return frozenset(name.lower() for name in self.dialect.names)

    @property
    def keys(self) -> list[Column]:
        return [self.named[key.lower()] for key in self.unique_key]

    @property
    def data(self) -> list[Column]:
        """What goes into the target: all but the metadata columns."""
        return [column for column in self.columns if column.name.lower() not in self.metadata]

    def check_kind(self, config: ScdConfig, target: Sequence[Column]) -> None:
        """Raises ConsumptionRefused where the target is what another configuration makes."""
        found = other_kind(config, self.named, target)
        if found:
            raise self.refused(
                f"its table is {found}, which this configuration does not keep up: its rows would be taken for what "
                "they are not. Go back to the configuration before, or run it with --full-refresh"
            )

    def refused(self, why: str) -> ConsumptionRefused:
        return ConsumptionRefused(f"{self.model}: {why}.")
