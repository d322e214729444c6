"""Names of tables: as people write them, and as SQL takes them whatever characters they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dbt.adapters.streamspark.changes.projection import quoted

PART = re.compile(r"`(?:``|[^`])*`|[^.`]+")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def table_name(parts: Iterable[str]) -> str:
    """The name with these parts; backticks only where they are needed.

    >>> table_name(["db", "my table"])
    'db.`my table`'
    """
    return ".".join(part if PLAIN.fullmatch(part) else quoted(part) for part in parts)


def table_sql(name: str) -> str:
    """A table's name with every part in backticks.

    >>> table_sql("db.table"), table_sql("db.`my.table`")
    ('`db`.`table`', '`db`.`my.table`')
    """
    return ".".join(part if part.startswith("`") else quoted(part) for part in PART.findall(name))


def name_parts(name: str) -> list[str]:
    """The parts of a table's name, without backticks.

    >>> name_parts("db.`my``table`")
    ['db', 'my`table']
    """
    return [part[1:-1].replace("``", "`") if part.startswith("`") else part for part in PART.findall(name)]
