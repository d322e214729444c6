"""The events of keys: what the change set says of each, and what the target already holds of the same keys.

An event is a row of `key` (struct), `seq` (its place in the key's order), `rank` (its place among those of one `seq`),
`closes` (where a delete ends what was), `up` (else a delete), `given` (the columns that it sets, in lower case; NULL:
all), `data` (struct), `replaces` (the change set takes back what the key had), `fresh` (from the change set, not the
target) and `start` (where the target's version begins that tells it).

Ranks: 0 an old image, ordered by its own commit, which comes before the new one. 1 an upsert, or a delete that a
predicate tells. 2 an old image ordered by a column of the source, which says the place of the row that is gone;
or one of a commit at whose time the target's version begins, unless a new image comes with it: clocks of two base
tables differ, and a changed query may take a row away without a commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.consume.columns import Column, struct
from dbt.adapters.streamspark.consume.held_events import held_events
from dbt.adapters.streamspark.consume.scd import ROW_ID, TIME, VERSION, Scd
from dbt.adapters.streamspark.literals import literal

EVENT = "key, seq, rank, closes, up, given, data"
EPOCH = "timestamp_micros(0)"


def key_events(scd: Scd, target: str | None) -> str:
    """A relation of the events of every key that the change set is about; `target` is the name of the model's table
    (SQL), None for one that is yet to be made."""
    images = Images(scd)
    none = f"cast(null as {scd.sequence_type})"
    events = f"select {EVENT}, replaces, true as fresh, {none} as start from {images.settled()}"
    if target is not None:
        held = held_events(scd, target, images.keys(), images.cut())
        events += f" union all select {EVENT}, false as replaces, false as fresh, start from {held}"
        if scd.config.history and not scd.late:
            events = f"select * except (rank), {_RANK} as rank from ({events})"
    return f"({events})" if scd.config.apply_as_truncates is None else _truncated(scd, f"({events})", images.cut())


def _truncated(scd: Scd, events: str, cut: str | None) -> str:
    """What was there before a truncate is a delete of its key."""
    after = "seq >= cut" if scd.late else "fresh and seq >= cut"
    return (
        "(select key, seq, rank, if(alive, closes, seq) as closes, up and alive as up, "
        "if(alive, given, null) as given, data, replaces, fresh, start "
        f"from (select *, coalesce(cut is null or ({after}), false) as alive from {events} cross join {cut}))"
    )


@dataclass(frozen=True)
class Images:
    """The rows of the change set, which are old and new images of rows, or events that somebody wrote down."""

    scd: Scd

    def settled(self) -> str:
        """Events, without the old images that say nothing: of a key of which a new image comes with it, or later, and
        of a row that lost its key to another row before."""
        old_rank = 2 if self.scd.late else 0
        return (
            f"(select key, seq, if(is_new, 1, {old_rank}) as rank, "
            f"case when not up then if(is_new, seq, gone_at) end as closes, up, if(up, given, null) as given, "
            f"if(up, data, null) as data, replaces "
            f"from (select *, {self._superseded()} as superseded, {_BEFORE} as before, "
            f"max(not is_new) over (partition by key) as replaces from {self.rows()}) "
            f"where is_new or (not superseded and (before is null or before.row_id <=> row_id)))"
        )

    def _superseded(self) -> str:
        """Old images that their own commits order end something until a later new image. Others are not ordered but by
        the change set, in which the last image of a key holds."""
        if self.scd.late:
            return f"count_if(is_new) over ({_ORDER} rows between 1 following and unbounded following) > 0"
        return "max(is_new) over (partition by key, commit)"

    def keys(self) -> str:
        """A relation of the keys, each once."""
        return f"(select distinct key, true as hit from {self.rows()})"

    def cut(self) -> str | None:
        """A relation of one row: `cut`, the place of the last truncate."""
        if self.scd.config.apply_as_truncates is None:
            return None
        said = f"{self.scd.model}: a row of apply_as_truncates has no {VERSION}, so its place is not known."
        place = f"coalesce({self._seq()}, raise_error({literal(f'{said} Use sequence_by.')}))"
        return f"(select max({place}) as cut from {self.scd.source} where {self._truncates()})"

    def rows(self) -> str:
        """The change rows in our words. `commit` orders the images of a key if it is also known which row each is
        of, or if the model says that commits do."""
        scd = self.scd
        rows = ROW_ID in scd.named
        ordered = rows or (scd.config.sequence_by is not None and not scd.late)
        known = ordered and scd.one_stream and scd.dialect is DIALECTS["delta"] and VERSION in scd.named
        columns = {
            "key": struct((column, scd.value(column)) for column in scd.stored_keys),
            "seq": self._seq(),
            "is_new": _true(scd.dialect.upsert),
            "up": f"{_true(scd.dialect.upsert)} and not {self._deletes()}",
            "commit": VERSION if known else "cast(null as bigint)",
            "row_id": f"cast({ROW_ID if known and rows else 'null'} as string)",
            "gone_at": self._gone_at(),
            "given": self._given(),
            "data": struct((column, scd.value(column)) for column in scd.told),
        }
        kept = "" if scd.config.apply_as_truncates is None else f" where not {self._truncates()}"
        return f"(select {', '.join(f'{sql} as {name}' for name, sql in columns.items())} from {scd.source}{kept})"

    def _deletes(self) -> str:
        predicate = self.scd.config.apply_as_deletes
        return "false" if predicate is None else _true(predicate)

    def _truncates(self) -> str:
        return f"({_true(self.scd.dialect.upsert)} and {_true(str(self.scd.config.apply_as_truncates))})"

    def _seq(self) -> str:
        scd, type_ = self.scd, self.scd.sequence_type
        if scd.sequence is None:
            return f"cast(null as {type_})"
        if scd.config.sequence_by is None:
            return f"cast(coalesce({scd.sequence.quoted}, {EPOCH}) as {type_})" if scd.config.history else VERSION
        said = f"{scd.model}: sequence_by ({scd.config.sequence_by}) is NULL, so the place of a change is not known: "
        error = f"raise_error(concat({literal(said)}, to_json({struct((c, c.quoted) for c in scd.keys)})))"
        return f"if({scd.sequence.quoted} is null, cast({error} as {type_}), {self._place(scd.sequence)})"

    def _place(self, own: Column) -> str:
        """In the type that the target has; one that it cannot write would be another place."""
        scd, held = self.scd, self.scd.sequence_type
        cast = f"cast({own.quoted} as {held})"
        if own.type == held:
            return cast
        said = (
            f"{scd.model}: sequence_by ({own.name}) is {own.type}, and its table orders by {held}, without the place "
        )
        help_ = ". Run it with --full-refresh, or cast it in the SELECT."
        error = f"raise_error(concat({literal(said)}, to_json({struct([(own, own.quoted)])}), {literal(help_)}))"
        return f"if(cast({cast} as {own.type}) <=> {own.quoted}, {cast}, cast({error} as {held}))"

    def _gone_at(self) -> str:
        """A row that is gone does not say when; its commit does, where that is comparable with the order."""
        scd = self.scd
        timed = scd.dialect is DIALECTS["delta"] and TIME in scd.named
        if scd.late and timed and scd.sequence_type in ("timestamp", "timestamp_ntz", "date"):
            return f"greatest({self._seq()}, cast({TIME} as {scd.sequence_type}))"
        return self._seq()

    def _given(self) -> str:
        """The columns that a row sets; a column of which it says nothing keeps its value."""
        names = {column: literal(column.name.lower()) for column in self.scd.settable}
        if not self.scd.config.partial or not names:
            return "cast(null as array<string>)"
        found = ", ".join(f"if({self._sets(column)}, {name}, null)" for column, name in names.items())
        return f"nullif(array_compact(array({found})), array({', '.join(names.values())}))"

    def _sets(self, column: Column) -> str:
        return " and ".join(self._conditions(column)) or "true"

    def _conditions(self, column: Column) -> Iterator[str]:
        name, config = column.name.lower(), self.scd.config
        if name not in self.scd.named:
            yield "false"
        ignored, listed = config.ignore_null_updates, config.columns_to_update
        if ignored is True or (isinstance(ignored, tuple) and name in map(str.lower, ignored)):
            yield f"{self.scd.value(column)} is not null"
        if isinstance(listed, tuple) and listed:
            yield "true" if name in map(str.lower, listed) else "false"
        if isinstance(listed, str):
            names = self.scd.named[listed.lower()].quoted
            holds = f"array_contains(transform({names}, x -> lower(x)), {literal(name)})"
            yield f"coalesce({names} is null or {holds}, false)"


_RANK = (
    "if(rank = 0 and fresh and max(up and not fresh) over (partition by key, seq) "
    "and not max(up and fresh) over (partition by key, seq), 2, rank)"
)
_ORDER = "partition by key order by commit, is_new"
_BEFORE = (
    "last_value(if(is_new, named_struct('row_id', row_id), null), true) over "
    f"({_ORDER} rows between unbounded preceding and 1 preceding)"
)


def _true(predicate: str) -> str:
    """The predicate on lines of its own, as it may end in a comment; NULL is false."""
    return f"coalesce((\n{predicate}\n), false)"
