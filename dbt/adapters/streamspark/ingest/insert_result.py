"""What `insert_rows` answers: which rows were left out, and why (document 004, ON_ERROR)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class InsertError:
    """One row that does not fit its table. `row_index` counts from 0 within the rows of the call. `without_values` is
    the message without anything that is in the row, which may be kept where others read it."""

    row_index: int
    message: str
    row_content: Any = None
    extra_col_names: tuple[str, ...] = ()
    missing_not_null_col_names: tuple[str, ...] = ()
    null_value_for_not_null_col_names: tuple[str, ...] = ()
    without_values: str = ""


@dataclass(frozen=True)
class InsertValidationResponse:
    """`rows_accepted` is how many rows of the call were taken."""

    insert_errors: tuple[InsertError, ...] = field(default_factory=tuple)
    rows_accepted: int = 0

    @property
    def has_errors(self) -> bool:
        return bool(self.insert_errors)

    @property
    def error_row_count(self) -> int:
        return len(self.insert_errors)
