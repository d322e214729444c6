"""The names of a table's columns, in whatever case a sender writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.streamspark.ingest.columns import Column
from dbt.adapters.streamspark.ingest.row_problems import RowProblems

NOTHING: Mapping[str, Any] = {}  # in place of what is no row at all: nothing more is said of it


class ColumnNames:
    def __init__(self, columns: Sequence[Column]):
        self._exact = frozenset(column.name for column in columns)
        self._any_case = {column.name.lower(): column.name for column in columns}

    def canonical(self, name: Any) -> str | None:
        """The table's own spelling; None where it has no such column."""
        return self._any_case.get(str(name).lower())

    def named(self, index: int, row: Any, problems: RowProblems) -> Mapping[str, Any]:
        """The row `row` of this index under the table's own names."""
        if type(row) is dict and row.keys() <= self._exact:
            return row
        if not isinstance(row, Mapping):
            problems.no_mapping(index, row)
            return NOTHING
        return self._renamed(index, row, problems)

    def _renamed(self, index: int, row: Mapping[Any, Any], problems: RowProblems) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in row.items():
            name = self.canonical(key)
            if name is None:
                problems.extra_column(index, str(key))
            elif name in found:
                problems.bad_value(index, "given twice, in upper and in lower case", name)
            else:
                found[name] = value
        return found
