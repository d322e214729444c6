"""The events that a target holds of the keys that a change set is about (key_events.py): what each row tells."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.consume import memory
from dbt.adapters.streamspark.consume.held_rows import held_data, held_key, held_rows
from dbt.adapters.streamspark.consume.scd import MEMORY, Scd

_NEXT = "__streamspark_next"


def held_events(scd: Scd, target: str, keys: str, cut: str | None) -> str:
    """A relation of events with `start`. `keys` is a relation of `key` and `hit`; `cut` one of the last truncate, by
    which every row of the target is concerned."""
    told = _versions_tell(scd) if scd.config.history else _row_tells(scd)
    held = f"coalesce({memory.read(f't.{quoted(MEMORY)}', scd)}, {told})"
    begins = f"t.{quoted(scd.config.valid_from)}" if scd.config.history else f"cast(null as {scd.sequence_type})"
    rows = (
        f"select {held_key(scd)} as key, {begins} as begins, {held if scd.remembers else told} as events "
        f"from {_touched(scd, target, keys, cut)}"
    )
    return (
        "(select key, e.seq, e.rank, e.closes, e.up, e.given, e.data, begins as start "
        f"from ({rows}) lateral view explode(events) exploded as e)"
    )


def _touched(scd: Scd, target: str, keys: str, cut: str | None) -> str:
    """The target's rows, aliased t, and for a history where each one's next version begins."""
    if cut is not None:
        whole = held_rows(scd, target, keys, "left join")
        return f"{whole} cross join {cut} as u where c.hit or u.cut is not null"
    rows = held_rows(scd, target, keys)
    if not scd.config.history:
        return rows
    same, start = ", ".join(key.of("t") for key in scd.stored_keys), f"t.{quoted(scd.config.valid_from)}"
    # after the join, lest the whole target be sorted
    return f"(select t.*, lead({start}) over (partition by {same} order by {start}) as {_NEXT} from {rows}) as t"


def _row_tells(scd: Scd) -> str:
    """The one row of a key: its values, and that it is deleted. Without an order it is older than what comes."""
    seq = f"t.{quoted(scd.sequence_column)}" if scd.late else "null"
    up = _event(scd, seq, 1, data=held_data(scd))
    if not scd.config.soft_deletes:
        return f"array({up})"
    gone = _event(scd, seq, 2, closes=seq)
    return f"array_compact(array({up}, if(t.{quoted(scd.config.is_deleted)}, {gone}, null)))"


def _versions_tell(scd: Scd) -> str:
    """A version began with its values, and was ended by a delete if no version begins where it ends."""
    begins, ends = (f"t.{quoted(name)}" for name in (scd.config.valid_from, scd.config.valid_to))
    up = _event(scd, begins, 1, data=held_data(scd))
    if scd.config.soft_deletes:
        return f"array(if(t.{quoted(scd.config.is_deleted)}, {_event(scd, begins, 1, closes=begins)}, {up}))"
    deleted = f"{ends} is not null and not (t.{_NEXT} <=> {ends})"
    return f"array_compact(array({up}, if({deleted}, {_event(scd, ends, 1, closes=ends)}, null)))"


def _event(scd: Scd, seq: str, rank: int, closes: str = "null", data: str | None = None) -> str:
    """An event that sets all columns, or, without data, deletes."""
    order = scd.sequence_type
    values = data or f"if(true, null, {held_data(scd)})"
    return (
        f"named_struct('seq', cast({seq} as {order}), 'rank', {rank}, 'closes', cast({closes} as {order}), "
        f"'up', {'true' if data else 'false'}, 'given', cast(null as array<string>), 'data', {values})"
    )
