"""What an operation tells: the same facts as readable text or as one line of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from dbt.adapters.streamspark.errors import InvalidArgument
from dbt.adapters.streamspark.near import near

FORMATS = ("text", "json")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """`facts` by name, then `tables`: by title the rows, which all have the same columns. Values are text, numbers,
    booleans, times (UTC), None, or lists of these; `text` in a fact is shown as it is, below the others. `failure`: why
    the operation, which ran, is to end as a failure."""

    facts: Row = field(default_factory=dict)
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    text: str = ""
    failure: str = ""

    def render(self, format: str = "text") -> str:
        """As `text` or `json`. Raises InvalidArgument for another format."""
        one_of("format", format, FORMATS)
        return self.to_json() if format == "json" else str(self)

    def to_dict(self) -> dict[str, Any]:
        return {**self.facts, **self.tables}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), default=_plain)

    def __str__(self) -> str:
        named = [{"name": name, "value": value} for name, value in self.facts.items() if not _is_nested(value)]
        parts = [grid(named)] if named else []
        parts += [f"{title}:\n{grid(rows) if rows else '  none'}" for title, rows in self.tables.items()]
        return "\n\n".join([*parts, *([self.text] if self.text else [])])


def one_of(argument: str, value: Any, allowed: Sequence[str]) -> str:
    """Raises InvalidArgument, which lists what is allowed, for any other value."""
    if value not in allowed:
        raise InvalidArgument(
            f"{argument} = {value!r} is not allowed. Allowed: {', '.join(allowed)}.{near(value, allowed)}"
        )
    return str(value)


def grid(rows: Sequence[Row]) -> str:
    """Rows under their columns' names.

    >>> print(grid([{"a": 1, "name": "x"}, {"a": None, "name": "long"}]))
      a  name
      -  ----
      1  x
         long
    """
    names = list(rows[0])
    cells = [names, ["-" * len(name) for name in names], *([_cell(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(names))]
    cells[1] = ["-" * width for width in widths]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)
    return "\n".join(f"  {line}".rstrip() for line in lines)


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(one, Mapping) for one in value))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return f"{value.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S}"
    if isinstance(value, list | tuple):
        return ", ".join(_cell(one) for one in value)
    return " ".join(str(value).split())


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds")
    raise TypeError(f"no JSON for {value!r}")
