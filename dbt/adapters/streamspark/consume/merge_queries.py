"""The SQL of a merge by position: which rows of the target match, and what they and the new rows become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.consume.merge import NOT_SO_SIMPLE, Merge, When
from dbt.adapters.streamspark.literals import literal

PATH, PLACE, ROW_ID, VERSION, CLAUSE = (
    f"__streamspark_{name}" for name in ("path", "place", "row_id", "version", "clause")
)


@dataclass(frozen=True)
class MergeQueries:
    """`columns` are those of the target, in order; `rows` is a relation of them with PATH and PLACE, the file and the
    position of each row in it, and ROW_ID and VERSION, the row's id and the commit that wrote it."""

    merge: Merge
    columns: Sequence[str]
    rows: str

    def matches(self) -> str:
        """A row for each pair that matches: PATH, PLACE, ROW_ID, VERSION, the key columns, CLAUSE (the number of the
        clause that holds, or NULL), the row's columns, and the new ones: its values where that clause updates it."""
        keys = [f"t.{quoted(column)} as {_key(n)}" for n, (column, _) in enumerate(self.merge.keys)]
        new = [f"{self._value(column)} as __streamspark_new{n}" for n, column in enumerate(self.columns)]
        old = [f"t.{quoted(column)} as __streamspark_old{n}" for n, column in enumerate(self.columns)]
        places = [f"t.{name}" for name in (PATH, PLACE, ROW_ID, VERSION)]
        equal = " and ".join(
            f"t.{quoted(column)} {self.merge.equals(column)} {value}" for column, value in self.merge.keys
        )
        return (
            f"select /*+ broadcast(s) */ {', '.join([*places, *keys, *old, f'{self._clause()} as {CLAUSE}', *new])} "
            f"from {self.rows} t join {self.merge.source} s on {equal} where {self.merge.within or 'true'}"
        )

    def written(self, matches: str) -> str:
        """The rows to write, in the target's columns, with ROW_ID of those that were there; `matches` is a relation."""
        changed = [f"__streamspark_new{n} as {quoted(column)}" for n, column in enumerate(self.columns)]
        values = {name.lower(): value for name, value in (self.merge.added.values or {}).items()}
        added = [f"{values.get(column.lower(), 'null')} as {quoted(column)}" for column in self.columns]
        keys = enumerate(self.merge.keys)
        same = " and ".join(f"m.{_key(n)} {self.merge.equals(column)} {value}" for n, (column, value) in keys)
        return (
            f"select {', '.join(changed)}, {ROW_ID} from {matches} where {self.is_update()} union all "
            f"select {', '.join(added)}, cast(null as bigint) from {self.merge.source} s "
            f"left anti join {self._replacing(matches)} m on {same} where {self.merge.added.condition or 'true'}"
        )

    def _replacing(self, matches: str) -> str:
        """The matches that their rows of the source are not added beside."""
        adding = [number for number, clause in enumerate(self.merge.matched) if clause.adds]
        return f"(select * from {matches} where not {_is_of(adding)})" if adding else matches

    def single(self, matches: str) -> str:
        """Fails with NOT_SO_SIMPLE where a row of the source matches several of the target."""
        keys = ", ".join(_key(n) for n in range(len(self.merge.keys)))
        several = f"count(*) > count(distinct struct({keys}))"
        return f"select if({several}, raise_error({literal(NOT_SO_SIMPLE)}), null) from {matches}"

    def hidden(self, matches: str) -> str:
        """Of each file: PATH, its `places` that are to be hidden, and how many of them are `updated`."""
        return (
            f"select {PATH}, collect_list({PLACE}) as places, count_if({self.is_update()}) as updated "
            f"from {matches} where {CLAUSE} is not null group by {PATH}"
        )

    def removed(self, matches: str) -> str:
        """The rows that are hidden, as they were: the target's columns and `_metadata`."""
        old = [f"__streamspark_old{n} as {quoted(column)}" for n, column in enumerate(self.columns)]
        metadata = f"named_struct('row_id', {ROW_ID}, 'row_commit_version', {VERSION}) as _metadata"
        return f"select {', '.join([*old, metadata])} from {matches} where {CLAUSE} is not null"

    def is_update(self) -> str:
        """Whether the clause of a match updates the row."""
        return _is_of([number for number, _ in self._updates()])

    def _updates(self) -> Iterator[tuple[int, When]]:
        return ((number, clause) for number, clause in enumerate(self.merge.matched) if clause.values is not None)

    def _clause(self) -> str:
        cases = (f"when {clause.condition or 'true'} then {n}" for n, clause in enumerate(self.merge.matched))
        return f"case {' '.join(cases)} end"

    def _value(self, column: str) -> str:
        """Of the row when its clause is done with it; NULL where that does not update it."""
        cases = []
        for number, clause in self._updates():
            values = {name.lower(): value for name, value in (clause.values or {}).items()}
            cases.append(f"when {number} then {values.get(column.lower(), f't.{quoted(column)}')}")
        return f"case {CLAUSE} {' '.join(cases)} end" if cases else f"if(false, t.{quoted(column)}, null)"


def _key(number: int) -> str:
    return f"__streamspark_key{number}"


def _is_of(clauses: Sequence[int]) -> str:
    """Whether the clause of a match is one of these."""
    return f"coalesce({CLAUSE} in ({', '.join(map(str, clauses))}), false)" if clauses else "false"
