"""What `explain` tells: the rule of each operator, and what is read of each base table."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class OperatorPlan:
    """One operator: its `rule`, its expressions, how deep it stands in the tree, and why it is `skipped`, if it is."""

    operator: str
    rule: str
    detail: str
    depth: int
    skipped: str | None = None

    def __str__(self) -> str:
        what = f"{'  ' * self.depth}{self.operator}" + (f" [{self.detail}]" if self.detail else "")
        return f"{what}: {self.skipped or self.rule}"


@dataclass(frozen=True)
class TablePlan:
    """One base table: the interval (start, end], the plan shape, and files and bytes to read at each end."""

    table: str
    start: int | None
    end: int
    shape: str
    files_at_start: int
    bytes_at_start: int
    files_at_end: int
    bytes_at_end: int

    def __str__(self) -> str:
        interval = f"({'beginning' if self.start is None else self.start}, {self.end}]"
        start = f"{self.files_at_start} files, {self.bytes_at_start:,} bytes at the start"
        end = f"{self.files_at_end} files, {self.bytes_at_end:,} bytes at the end"
        return f"{self.table} {interval} {self.shape}: {start}; {end}"


@dataclass(frozen=True)
class ChangePlan:
    """How the changes of a query are computed. `fallbacks` are the parts without a rule, with their reasons; `sql` is
    the generated SQL, None where nothing changed. `str()` shows all but the SQL, `to_json()` all."""

    format: str
    operators: tuple[OperatorPlan, ...]
    tables: tuple[TablePlan, ...]
    fallbacks: tuple[str, ...] = ()
    sql: str | None = field(default=None, repr=False)

    @property
    def fallback(self) -> bool:
        """Whether a part of the query is computed whole at both ends and compared."""
        return bool(self.fallbacks)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "fallback": self.fallback}

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        parts = [
            f"change query, format {self.format}",
            "base tables:",
            *(f"  {table}" for table in self.tables),
            "operators:",
            *(f"  {operator}" for operator in self.operators),
        ]
        reasons = [f"fallback, computed whole at both ends: {reason}" for reason in self.fallbacks]
        return "\n".join([*parts, *(reasons or ["fallback: none"])])
