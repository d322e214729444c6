"""The SQL of `apply_changes`: a target kept equal to what a change set describes, one row per key (SCD type 1).

Per key, the new image wins over the old one: a key with an insert or new image is upserted, one with nothing
but old images is deleted. That is right for a key that changes its value, and for one deleted and inserted again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.consume.as_type import as_type
from dbt.adapters.streamspark.consume.columns import Column, struct
from dbt.adapters.streamspark.consume.merge import Merge, When
from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from dbt.adapters.streamspark.consume.selection import Selection
from dbt.adapters.streamspark.consume.unique_rows import key_list, twice
from dbt.adapters.streamspark.literals import literal

UPSERT = "__streamspark_upsert"
ROW = "__streamspark_row"
OLD = "__streamspark_old"
KEY = "__streamspark_key"
IMAGES = "__streamspark_images"


@dataclass(frozen=True)
class ApplyChanges(Selection):
    """`from_target`: the changes start from just what the target holds, so that a new key must not be there."""

    from_target: bool = False

    def one_row_per_key(self) -> str:
        """A relation of UPSERT (boolean), KEY (struct of the key), ROW and OLD (structs of the data: the new image,
        and the old one where there is one)."""
        new, old = f"filter (where {self.dialect.upsert})", f"filter (where not ({self.dialect.upsert}))"
        count, row = f"count_if({self.dialect.upsert})", _struct(self.data)
        return (
            f"(select if({count} > 1, raise_error({self._twice(count)}), {count} = 1) as {UPSERT}, "
            f"{_struct(self.keys)} as {KEY}, first({row}) {new} as {ROW}, first({row}) {old} as {OLD}, "
            f"count(*) as {IMAGES} from {self.source} group by {self._key_list})"
        )

    def changed_keys(self) -> str:
        """The same without the keys whose old and new image are the same: what the target has of them is right."""
        if not all(column.comparable for column in self.data):
            return self.one_row_per_key()
        same = f"{UPSERT} and {IMAGES} = 2 and {OLD} <=> {ROW}"
        return f"(select * from {self.one_row_per_key()} where not ({same}))"

    def new_rows(self) -> str:
        """The SELECT of the data where every row is new."""
        return f"select {', '.join(column.quoted for column in self.data)} from {self.source}"

    @property
    def _key_list(self) -> str:
        return key_list(key.name for key in self.keys)

    def _twice(self, count: str) -> str:
        return twice(self.model, [key.name for key in self.keys], count)

    def merge(self, target: str, target_columns: Sequence[Column]) -> Merge:
        """The MERGE into `target`: deletes, changed rows and new rows; rows that stay as they are stay unwritten."""
        self.check_kind(ScdConfig(self.unique_key), target_columns)
        return self.merged(target, target_columns, self.changed_keys())

    def merged(
        self,
        target: str,
        target_columns: Sequence[Column],
        rows: str,
        within: str = "",
        spared: Callable[[str], str] = lambda row: "",
    ) -> Merge:
        """The same in its parts. `rows` is a relation that has the changed keys. `within`: a predicate that each row of
        the target `t` passes which has one of the keys. `spared`: FinalRows.spared, where some rows are final."""
        here = {column.name.lower(): column for column in target_columns}
        data = [column for column in self.data if column.name.lower() in here]
        values = {column.name: _value(column, here[column.name.lower()]) for column in data}
        spared_here = spared("t")
        matched = [
            When(f"not s.{UPSERT}{spared_here}", None),
            *([self._not_new(spared_here)] if self.from_target else []),
            When(f"({self._differs(data, values)}){spared_here}", values),
        ]
        keys = [(key.name, f"s.{KEY}.{key.quoted}") for key in self.keys]
        return Merge(target, rows, keys, matched, When(f"s.{UPSERT}{spared(f's.{ROW}')}", values), within)

    def rebase(self, target: str, target_columns: Sequence[Column]) -> str:
        """The MERGE where the rows are all that the target is to hold."""
        return f"{self.merge(target, target_columns).sql()}\nwhen not matched by source then delete"

    def _not_new(self, spared: str) -> When:
        key, names = self.keys[0], ", ".join(key.name for key in self.keys)
        said = (
            f"concat({literal(f'{self.model}: a row has come whose unique_key ({names}) another row has: ')}, "
            f"to_json(s.{KEY}), {literal('. Make the key unique; if others write to the table, use --full-refresh.')})"
        )
        error = f"cast(raise_error({said}) as {key.type})"
        return When(f"s.{UPSERT} and s.{OLD} is null{spared}", {key.name: error})

    def _differs(self, data: Sequence[Column], values: Mapping[str, str]) -> str:
        keys = {key.name.lower() for key in self.keys}
        if any(not column.comparable for column in data):
            return "true"
        others = [column for column in data if column.name.lower() not in keys]
        pairs = (f"not (t.{quoted(c.name)} <=> {values[c.name]})" for c in others)
        return " or ".join(pairs) or "false"

    def upserts(self) -> str:
        """The SELECT of the rows that a new target begins with."""
        columns = ", ".join(f"{ROW}.{quoted(c.name)} as {quoted(c.name)}" for c in self.data)
        return f"select {columns} from {self.one_row_per_key()} where {UPSERT}"


def _value(column: Column, held: Column) -> str:
    """A column of the changed row; of a struct the fields that the target's has."""
    value = f"s.{ROW}.{column.quoted}"
    return as_type(value, column, held) if "struct<" in held.type else value


def _struct(columns: Sequence[Column]) -> str:
    return struct((column, column.quoted) for column in columns)
