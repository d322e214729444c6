"""SCD type 2: a row for each version of a key, valid from its place in the order up to, but not at, the next one's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dbt.adapters.streamspark.consume import memory
from dbt.adapters.streamspark.consume.columns import Column, struct
from dbt.adapters.streamspark.consume.key_events import key_events
from dbt.adapters.streamspark.consume.key_states import KeyStates
from dbt.adapters.streamspark.consume.merge import Merge
from dbt.adapters.streamspark.consume.merge_rows import merge_rows
from dbt.adapters.streamspark.consume.newer_versions import newer_versions
from dbt.adapters.streamspark.consume.scd import MEMORY, Scd

_ORDER = "over (partition by key order by seq, rank"
_CHANGED = "(prior is null or not prior.up or not (prior.tracked <=> tracked))"


@dataclass(frozen=True)
class Versions:
    """The whole history of each touched key is put together from what the target holds and what has come, whatever the
    order it came in; what differs is written.

    A delete ends a version, or begins one that says so (soft_deletes). A delete of which no version is known yet is a
    row whose interval is empty, where rows may come late.
    """

    scd: Scd

    def upserts(self) -> str:
        """The SELECT of the rows that a new target begins with."""
        columns = ", ".join(f"{sql} as {column.quoted}" for column, sql in self._columns(self.scd, self.scd.data))
        return f"select {columns} from {self._actions(self.scd, None)} as s where not s.stale"

    def merge(self, target: str, target_columns: list[Column]) -> Merge:
        """The MERGE into `target`."""
        scd = self.scd.into(target_columns)
        columns = list(self._columns(scd, scd.values))
        start = [pair for pair in columns if pair[0].name == scd.config.valid_from]
        keys = [(key, key.of("s.key")) for key in scd.stored_keys] + start
        values = [pair for pair in columns if pair not in start]
        merge = merge_rows(target, self._actions(scd, target), keys, values, "s.stale")
        return replace(merge, simpler=newer_versions(scd, target))

    def _columns(self, scd: Scd, data: list[Column]) -> Iterator[tuple[Column, str]]:
        """Columns of the target, with their values over an action `s`."""
        config, keys = scd.config, {key.name for key in scd.stored_keys}
        values = {
            config.valid_from: "s.begins",
            config.valid_to: "s.ends",
            config.is_current: "(s.ends is null)",
            config.is_deleted: "(not s.up)",
            MEMORY: "s.memory",
        }
        yield from ((column, column.of("s.key" if column.name in keys else "s.shown")) for column in data)
        yield from ((column, values[column.name]) for column in scd.extra)

    def _actions(self, scd: Scd, target: str | None) -> str:
        """A relation of `key`, `begins`, `stale` (the target's row that begins there is to go) and, where it is not,
        `ends`, `up`, `shown` (struct of the data) and `memory`."""
        shown = "live" if not scd.late else "true"
        each = "array(named_struct('begins', begins, 'stale', false))"
        stale = "transform(stale, x -> named_struct('begins', x, 'stale', true))"
        return (
            f"(select key, action.begins, action.stale, {_ends(scd)} as ends, up, shown, "
            f"{_memory(scd)} as memory from {self._versions(scd, target)} "
            f"lateral view explode(concat({each}, {stale})) exploded as action where {shown} or action.stale)"
        )

    def _versions(self, scd: Scd, target: str | None) -> str:
        """One row for each version, with `next`, where the next one begins, and in a key's first row `stale`, where
        rows of the target begin that are none any more."""
        held, begun = (f"collect_list({name}) over (partition by key)" for name in ("held", "begins"))
        return (
            "(select *, lead(begins) over (partition by key order by begins) as next, "
            "if(row_number() over (partition by key order by begins) = 1, "
            f"array_except(flatten({held}), {begun}), slice(held, 1, 0)) as stale "
            f"from {_grouped(scd, self._begun(scd, target))})"
        )

    def _begun(self, scd: Scd, target: str | None) -> str:
        """The states with `opens` (the event begins a version) and `begun` (where the version begins that it is in;
        NULL for deletes before the first)."""
        states = KeyStates(scd, key_events(scd, target)).sql()
        tracked = struct((c, c.facts(c.of("state"))) for c in scd.tracked) if scd.tracked else "true"
        prior = f"lag(named_struct('up', up, 'tracked', tracked)) {_ORDER}) as prior"
        opens = f"if(up, {_CHANGED}, prior is null or prior.up)" if scd.config.soft_deletes else f"up and {_CHANGED}"
        place = f"if(up, seq, least(closes, lead(seq) {_ORDER}))) as place"
        compared = f"(select *, {prior} from (select *, {tracked} as tracked from {states}))"
        opened = f"(select *, {opens} as opens, {place} from {compared})"
        begun = f"last_value(if(opens, place, null), true) {_ORDER} rows between unbounded preceding and current row)"
        return f"(select *, {begun} as begun from {opened})"


def _grouped(scd: Scd, begun: str) -> str:
    """The events of each version together. Deletes before the first belong to it; without any, they are together."""
    place = "struct(seq, rank)"
    says = "up or opens" if scd.config.soft_deletes else "up"
    written = memory.written() if scd.remembers else "cast(null as string)"
    begins = "coalesce(begun, min(if(opens, place, null)) over (partition by key), min(seq) over (partition by key))"
    return (
        f"(select key, begins, count_if(opens) > 0 as live, max_by(up, {place}) as up, "
        f"max_by(state, {place}) filter (where {says}) as shown, "
        f"min_by(closes, {place}) filter (where not up and begun is not null) as closes, "
        "count(*) as events, count_if(up) as ups, count_if(given is not null or rank <> 1) as odd, "
        f"flatten(collect_list(starts)) as held, {written} as written "
        f"from (select *, {begins} as begins from {begun}) group by key, begins)"
    )


def _ends(scd: Scd) -> str:
    return "next" if scd.config.soft_deletes else "if(live, least(closes, next), begins)"


def _memory(scd: Scd) -> str:
    """None where a version's row tells its events: one that sets all columns, and perhaps the delete that ends it."""
    if scd.config.soft_deletes:
        told = "events = 1 and odd = 0"
    else:
        ended = "events = 2 and closes is not null and coalesce(closes < next, true)"
        told = f"live and ups = 1 and odd = 0 and (events = 1 or ({ended}))"
    return f"if({told}, null, written)"
