"""How a differential model reacts when its definition is another one than in the run before, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dbt.adapters.streamspark.errors import ConsumptionRefused

QUERY, KEY, FINAL = "query", "unique_key", "immutable_where"


@dataclass(frozen=True)
class Redefinition:
    """What of the model of a `target` is another now: `parts` of its definition, some of QUERY, KEY and FINAL; its
    query's `columns`, as other_columns tells them, which they may be with the same text, of a `select *`; and the
    session's `settings`, as other_settings tells them."""

    target: str
    parts: tuple[str, ...] = ()
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    settings: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.parts or self.columns or self.settings)

    @property
    def reason(self) -> str:
        """For the log.

        >>> Redefinition("t", ("query",), {"new": ["b int"], "gone": ["c int"]}).reason
        'its query is another one now, its columns are others (new: b int; gone: c int)'
        """
        told = [f"its {part} is another one now" for part in self.parts]
        told += [f"its columns are others ({self._columns})"] if self.columns else []
        return ", ".join([*told, *self.settings])

    @property
    def _columns(self) -> str:
        return "; ".join(f"{what}: {', '.join(names)}" for what, names in self.columns.items())

    def check_parts(self, on_configuration_change: str) -> None:
        """Raises ConsumptionRefused where the definition must not change."""
        if self.parts and on_configuration_change == "fail":
            raise ConsumptionRefused(
                f"{self.target}: {' and '.join(f'its {part}' for part in self.parts)} changed since its last run, and "
                "on_configuration_change is 'fail'. Nothing was written. Set it to 'apply' to bring the table to what "
                "is defined now, to 'continue' to go on with what was, or run with --full-refresh."
            )

    def check_columns(self, on_schema_change: str) -> None:
        """Raises ConsumptionRefused where the table must not get the columns of the query."""
        gone = on_schema_change == "append_new_columns" and "gone" in self.columns
        if gone or (self.columns and on_schema_change == "fail"):
            why = "a table that is kept equal to its query cannot keep a column that this does not give" if gone else ""
            raise ConsumptionRefused(
                f"{self.target}: the columns of its query and of the table are out of sync ({self._columns}), and "
                f"on_schema_change is '{on_schema_change}'{why and f': {why}'}. Nothing was written. Set it to "
                "'sync_all_columns', or run with --full-refresh."
            )
