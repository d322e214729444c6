"""SCD type 1 with an order or rules of its own: one row per key, which holds what the key's events amount to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbt.adapters.streamspark.consume import memory
from dbt.adapters.streamspark.consume.columns import Column
from dbt.adapters.streamspark.consume.key_events import key_events
from dbt.adapters.streamspark.consume.key_states import KeyStates
from dbt.adapters.streamspark.consume.merge import Merge
from dbt.adapters.streamspark.consume.merge_rows import merge_rows
from dbt.adapters.streamspark.consume.scd import MEMORY, SEQUENCE, Scd

_AFTER = "over (partition by key, epoch order by {} rows between 1 following and unbounded following)"


@dataclass(frozen=True)
class CurrentRows:
    """Deleted rows leave the target, or stay and say so (soft_deletes)."""

    scd: Scd

    def upserts(self) -> str:
        """The SELECT of the rows that a new target begins with."""
        columns = ", ".join(f"{sql} as {column.quoted}" for column, sql in self._columns(self.scd, self.scd.data))
        return f"select {columns} from {self._rows(self.scd, None)} as s where not {self._gone}"

    def merge(self, target: str, target_columns: list[Column]) -> Merge:
        """The MERGE into `target`."""
        scd = self.scd.into(target_columns)
        keys = [(key, key.of("s.key")) for key in scd.stored_keys]
        return merge_rows(target, self._rows(scd, target), keys, list(self._columns(scd, scd.values)), self._gone)

    @property
    def _gone(self) -> str:
        return "false" if self.scd.config.soft_deletes else "(not s.alive)"

    def _columns(self, scd: Scd, data: list[Column]) -> Iterator[tuple[Column, str]]:
        """Columns of the target, with their values over a row `s`."""
        keys = {key.name for key in scd.stored_keys}
        values = {SEQUENCE: "s.seq", MEMORY: "s.memory", scd.config.is_deleted: "(not s.alive)"}
        yield from ((column, column.of("s.key" if column.name in keys else "s.shown")) for column in data)
        yield from ((column, values[column.name]) for column in scd.extra)

    def _rows(self, scd: Scd, target: str | None) -> str:
        """A relation of `key`, `alive`, `shown` (struct of the data), `seq` and `memory`."""
        states = KeyStates(scd, key_events(scd, target))
        last = f"struct({states.order})"
        told = "count_if(kept) = 1 and count_if(kept and up and given is null and rank = 1) = 1"
        kept = f"if({told}, null, {memory.written('kept')})" if scd.remembers else "cast(null as string)"
        events = self._kept(scd, states) if scd.remembers else states.sql()
        return (
            f"(select key, max_by(up, {last}) as alive, max_by(state, {last}) filter (where up) as shown, "
            f"max_by(seq, {last}) filter (where up) as seq, {kept} as memory from {events} group by key)"
        )

    def _kept(self, scd: Scd, states: KeyStates) -> str:
        """The events with `kept`: those that may still matter when an older one comes. They are each column's last
        since the key was last deleted, and the deletes around."""
        after = _AFTER.format(states.order)
        last = [f"count_if(up) {after} = 0"]
        if scd.config.partial:
            given = [states.gives(column) for column in scd.settable]
            last += [f"({gives} and count_if({gives}) {after} = 0)" for gives in given]
        return (
            "(select *, if(up, epoch = newest and last, epoch + 1 >= coalesce(newest, 0)) as kept from "
            f"(select *, {' or '.join(last)} as last, max(if(up, epoch, null)) over (partition by key) as newest "
            f"from {states.sql()}))"
        )
