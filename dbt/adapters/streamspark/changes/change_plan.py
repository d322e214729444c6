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
    """One base table: the interval (start, end], the plan shape, and files and bytes to read at each end, which are
    those that changed. `looked_up`: what there is of the table at an end where its other rows are asked for too, as by
    a join that meets them; a key may spare most of it. 0 where they are not, None where the log does not tell."""

    table: str
    start: int | None
    end: int
    shape: str
    files_at_start: int
    bytes_at_start: int
    files_at_end: int
    bytes_at_end: int
    looked_up_files_at_start: int | None = 0
    looked_up_bytes_at_start: int | None = 0
    looked_up_files_at_end: int | None = 0
    looked_up_bytes_at_end: int | None = 0

    def __str__(self) -> str:
        interval = f"({'beginning' if self.start is None else self.start}, {self.end}]"
        start = f"{_size(self.files_at_start, self.bytes_at_start)} at the start"
        end = f"{_size(self.files_at_end, self.bytes_at_end)} at the end"
        return f"{self.table} {interval} {self.shape}: {start}; {end}; {self._looked_up()}"

    @property
    def is_looked_up(self) -> bool:
        return (self.looked_up_files_at_start, self.looked_up_files_at_end) != (0, 0)

    def _looked_up(self) -> str:
        ends = {
            "start": (self.looked_up_files_at_start, self.looked_up_bytes_at_start),
            "end": (self.looked_up_files_at_end, self.looked_up_bytes_at_end),
        }
        told = [f"looked up at the {end}: in {_size(*sizes)}" for end, sizes in ends.items() if sizes[0] != 0]
        return "; ".join(told) or "not looked up"


def _size(files: int | None, size: int | None) -> str:
    return "files of unknown size" if files is None or size is None else f"{files} files, {size:,} bytes"


@dataclass(frozen=True)
class CommitPlan:
    """One commit's part of a redo log: what its table and the others are read for, and the SQL of its changes (None
    where there are none)."""

    table: str
    version: int
    tables: tuple[TablePlan, ...]
    sql: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        read = [str(table) for table in self.tables if table.table == self.table or table.is_looked_up]
        return f"version {self.version} of {self.table}: {' | '.join(read) if self.sql else 'nothing changed'}"


@dataclass(frozen=True)
class ChangePlan:
    """How the changes of a query are computed. `fallbacks` are the parts without a rule, with their reasons; `sql` is
    the generated SQL, None where nothing changed. A redo log is computed commit by commit: its SQL is in `commits`, and
    `tables` has the sums of their files. `str()` shows all but the SQL, `to_json()` all."""

    format: str
    operators: tuple[OperatorPlan, ...]
    tables: tuple[TablePlan, ...]
    fallbacks: tuple[str, ...] = ()
    sql: str | None = field(default=None, repr=False)
    commits: tuple[CommitPlan, ...] = ()

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
            *(["commits, one by one:"] if self.commits else []),
            *(f"  {commit}" for commit in self.commits),
        ]
        reasons = [f"fallback, computed whole at both ends: {reason}" for reason in self.fallbacks]
        return "\n".join([*parts, *(reasons or ["fallback: none"])])
