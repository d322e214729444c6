"""A MERGE by keys in its parts: as the statement that Delta runs, and as what merge_by_position.py does instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dbt.adapters.streamspark.changes.differentiate.keys import Column
from dbt.adapters.streamspark.changes.projection import quoted

NOT_SO_SIMPLE = "streamspark: the rows are not those of the usual case"


@dataclass(frozen=True)
class When:
    """One WHEN clause: `condition` is SQL over `t` and `s`, empty where it always holds; `values` maps columns of the
    target to SQL, None to delete the row. `adds`: the row of `s` is added as well, as if it matched none."""

    condition: str
    values: Mapping[str, str] | None
    adds: bool = False


@dataclass(frozen=True)
class Merge:
    """The rows of the relation `source`, called `s`, into the table `target`, called `t`. `keys` are columns of `t`,
    each with the SQL over `s` that is equal to it (NULL being equal to NULL). Of `matched` the first clause that holds
    counts; `added` is for rows of `s` that match none. `within` is SQL over `t` and `s` that is to hold of all that
    match. `known`: what is known of the columns of the keys of `s`. `staged`: a temporary view that the source reads
    more than once. `simpler`: a merge that does the same in the usual case, reads that view once, and of which
    each row matches one row at most; it fails with NOT_SO_SIMPLE in others. No statement of Delta's says what a clause
    that `adds` does."""

    target: str
    source: str
    keys: Sequence[tuple[str, str]]
    matched: Sequence[When]
    added: When
    within: str = ""
    known: Mapping[str, Column] = field(default_factory=dict)
    staged: str = ""
    simpler: Merge | None = None

    def equals(self, column: str) -> str:
        """What compares a key column of rows that were computed: `=` where it can, by which Spark hashes one value of
        each key instead of two."""
        return self.known[column].equals if column in self.known else "<=>"

    def sql(self) -> str:
        """The statement. What it reads may be planned again when another run comes first, with NULL among the keys."""
        equal = [f"t.{quoted(column)} <=> {value}" for column, value in self.keys]
        lines = [
            f"merge into {self.target} as t\nusing {self.source} as s",
            f"on {' and '.join([*equal, *([self.within] if self.within else [])])}",
            *(f"when matched{_and(clause)} then {_action(clause)}" for clause in self.matched),
            f"when not matched{_and(self.added)} then {_insert(self.added)}",
        ]
        return "\n".join(lines)


def _and(clause: When) -> str:
    return f" and {clause.condition}" if clause.condition else ""


def _action(clause: When) -> str:
    if clause.values is None:
        return "delete"
    return f"update set {', '.join(f't.{quoted(column)} = {value}' for column, value in clause.values.items())}"


def _insert(clause: When) -> str:
    values = clause.values or {}
    return f"insert ({', '.join(map(quoted, values))}) values ({', '.join(values.values())})"
