"""A plain projection and selection over one base table: what a leaf reads, pushed below the difference."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Projection:
    """`columns` are (output name, Spark SQL expression over the base columns); None means all of them.
    `where` is a Spark SQL predicate over the base columns. Neither is qualified.

    Applying it to both ends before they are compared gives the paper's section 2.2.2 for free: updates of
    excluded columns vanish, an update that moves a row into the filter becomes an insert, out of it a delete.
    """

    columns: tuple[tuple[str, str], ...] | None = None
    where: str | None = None

    def over(self, base_columns: list[str]) -> tuple[tuple[str, str], ...]:
        """The (name, expression) pairs, with every base column where none were named."""
        if self.columns is not None:
            return self.columns
        return tuple((name, quoted(name)) for name in base_columns)

    @property
    def filter(self) -> str:
        return self.where or "true"


def quoted(name: str) -> str:
    """A column name as a Spark identifier.

    >>> quoted("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A text as a Spark string literal that no parser setting reads otherwise.

    >>> literal("it's")
    "'it\\\\'s'"
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
