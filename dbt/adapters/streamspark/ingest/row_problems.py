"""What is wrong with the rows of one call, collected column by column and told row by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from dbt.adapters.streamspark.ingest.insert_result import InsertError


class RowProblems:
    """Row index -> what is wrong with it."""

    def __init__(self) -> None:
        self._values: dict[int, list[tuple[str, str]]] = defaultdict(list)
        self._extra: dict[int, list[str]] = defaultdict(list)
        self._missing: dict[int, list[str]] = defaultdict(list)
        self._null: dict[int, list[str]] = defaultdict(list)

    def no_mapping(self, index: int, row: Any) -> None:
        said = f"a row is a mapping of column names to values, not a {type(row).__name__}"
        self._values[index].append((said, said))

    def bad_value(self, index: int, why: str, column: str) -> None:
        self._values[index].append((f"column {column}: {why}", f"column {column}: a value that does not fit it"))

    def extra_column(self, index: int, name: str) -> None:
        self._extra[index].append(name)

    def missing_column(self, index: int, name: str) -> None:
        self._missing[index].append(name)

    def null_value(self, index: int, name: str) -> None:
        self._null[index].append(name)

    def indexes(self) -> list[int]:
        return sorted({*self._values, *self._extra, *self._missing, *self._null})

    def errors(self, row: Callable[[int], Any]) -> tuple[InsertError, ...]:
        """In the order of the rows; `row` gives a row as it was sent."""
        return tuple(self._error(index, row(index)) for index in self.indexes())

    def _error(self, index: int, row: Any) -> InsertError:
        extra, missing, null = (kind.get(index, []) for kind in (self._extra, self._missing, self._null))
        said = [f"the table has no column {', '.join(extra)}"] if extra else []
        said += [f"missing, and may not be null: {', '.join(missing)}"] if missing else []
        said += [f"null, and may not be: {', '.join(null)}"] if null else []
        values = self._values.get(index, [])
        message, without_values = ("; ".join([*(told[n] for told in values), *said]) for n in (0, 1))
        return InsertError(index, message, row, tuple(extra), tuple(missing), tuple(null), without_values)
