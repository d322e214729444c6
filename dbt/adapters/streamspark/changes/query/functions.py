"""Names of functions, however they are written."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.not_covered import Node

# written without parentheses too, and then like a column
BARE = frozenset(
    ("current_date", "current_timestamp", "current_time", "localtimestamp", "current_user", "session_user", "user")
)


def function_name(part: Node, bare: Collection[str] = BARE) -> str:
    """A function's name in lower case; empty for what is no function. `bare` are the names that need no parentheses."""
    if isinstance(part, exp.Anonymous):
        return str(part.name).lower()
    if isinstance(part, exp.Func):
        return str(part.sql_name()).lower()
    if isinstance(part, exp.Column) and len(part.parts) == 1 and not part.this.quoted:
        return part.name.lower() if part.name.lower() in bare else ""
    return ""
