"""A source table, and what it held at each version, in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from pyspark.sql import SparkSession

from tests.consuming import newest

Row = tuple[int, int, int]  # id, k, v
State = dict[int, Row]
GROUPS = 5


@dataclass
class Source:
    """Ids never come twice, and no value either. With `grows_only` rows are never changed or removed. `states[n]` is
    what version n holds, by id."""

    spark: SparkSession
    name: str
    dice: Random
    grows_only: bool
    states: list[State] = field(default_factory=lambda: [{}])
    ids: int = 0

    def create(self) -> None:
        self.spark.sql(
            f"create table {self.name} (id int, k int, v int) using delta "
            "tblproperties ('delta.enableRowTracking' = 'true')"
        )
        self.insert()

    def change(self) -> None:
        """One commit, or two."""
        for _ in range(self.dice.choice((1, 1, 2))):
            some = self.states[-1] and not self.grows_only
            self.dice.choice([self.insert, self.insert, self.update, self.delete] if some else [self.insert])()

    def insert(self) -> None:
        first, self.ids = self.ids + 1, self.ids + self.dice.randrange(1, 4)
        rows = {i: (i, i % GROUPS, self._value(i)) for i in range(first, self.ids + 1)}
        self._commit(
            f"insert into {self.name} values {', '.join(map(str, rows.values()))}", {**self.states[-1], **rows}
        )

    def update(self) -> None:
        before, ids = self.states[-1], self._some()
        rows = {i: (i, before[i][1], self._value(i)) for i in ids}
        added = self._value(0)
        text = f"update {self.name} set v = {added} + id where id in ({', '.join(map(str, ids))})"
        self._commit(text, {**before, **rows})

    def delete(self) -> None:
        ids = self._some()
        text = f"delete from {self.name} where id in ({', '.join(map(str, ids))})"
        self._commit(text, {i: row for i, row in self.states[-1].items() if i not in ids})

    def _some(self) -> list[int]:
        held = sorted(self.states[-1])
        return self.dice.sample(held, min(len(held), self.dice.randrange(1, 4)))

    def _value(self, row_id: int) -> int:
        return len(self.states) * 10_000 + row_id

    def _commit(self, sql: str, state: State) -> None:
        """Others set properties meanwhile (of retention), which are versions with the same rows."""
        self.spark.sql(sql)
        version = newest(self.spark, self.name)
        self.states += [self.states[-1]] * (version - len(self.states))
        self.states.append(state)

    def at(self, version: int) -> State:
        """What a version holds; nothing changed since the newest that is known."""
        return self.states[min(version, len(self.states) - 1)]


Change = tuple[str, int, int, int]  # change type, id, k, v


def changes_between(before: State, after: State) -> list[Change]:
    """The net changes from one state to another."""
    both = sorted(before.keys() & after.keys())
    updated = [i for i in both if before[i] != after[i]]
    return [
        *(("insert", *after[i]) for i in sorted(after.keys() - before.keys())),
        *(("delete", *before[i]) for i in sorted(before.keys() - after.keys())),
        *(("update_preimage", *before[i]) for i in updated),
        *(("update_postimage", *after[i]) for i in updated),
    ]


def grouped(state: State) -> list[tuple[int, int, int]]:
    """k, number of rows, sum of v."""
    keys = sorted({k for _, k, _ in state.values()})
    of_key: Callable[[int], list[int]] = lambda key: [v for _, k, v in state.values() if k == key]  # noqa: E731
    return [(key, len(of_key(key)), sum(of_key(key))) for key in keys]
