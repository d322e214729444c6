"""What a key's events amount to, one after the other: ties settled, columns that are not given filled from before."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.streamspark.consume.columns import Column, struct
from dbt.adapters.streamspark.consume.scd import Scd
from dbt.adapters.streamspark.literals import literal


@dataclass(frozen=True)
class KeyStates:
    """`events` is a relation of events (key_events.py)."""

    scd: Scd
    events: str

    @property
    def order(self) -> str:
        """In which the events of a key happened. Without an order in the target, its rows come first."""
        return "seq, rank" if self.scd.late or self.scd.config.history else "fresh, seq, rank"

    def sql(self) -> str:
        """The events, each once, with `state` (the values after it, as a struct; after a delete, those before it),
        `epoch` (how many deletes came before) and `starts` (where the target's versions begin that told what was at its
        place)."""
        before = f"over (partition by key order by {self.order} rows between unbounded preceding and 1 preceding)"
        epochs = f"(select *, count_if(not up) {before} as epoch from {self._each_once()})"
        first = f"lag(up) over (partition by key, epoch order by {self.order}) is null as first"
        return f"(select *, {self._state()} as state from (select *, {first} from {epochs}))"

    def _state(self) -> str:
        """The last that was said of each column since the key was last deleted."""
        if not self.scd.config.partial:
            return self._last("if(up, data, null)")
        keys = {key.name for key in self.scd.stored_keys}
        # boxed, as a value that may be NULL is a value all the same
        boxes = {c.name: f"if({self.gives(c)}, named_struct('x', {c.of('data')}), null)" for c in self.scd.data}
        return struct((c, c.of("key") if c.name in keys else f"{self._last(boxes[c.name])}.x") for c in self.scd.data)

    def gives(self, column: Column) -> str:
        """SQL over an event: whether it sets the column. What is never updated comes with the key's first row."""
        listed = self.scd.config.columns_to_update
        first = "first or " if listed and not isinstance(listed, str) else ""
        return f"(up and ({first}given is null or array_contains(given, {literal(column.name.lower())})))"

    def _last(self, value: str) -> str:
        so_far = f"partition by key, epoch order by {self.order} rows between unbounded preceding and current row"
        return f"(last_value({value}, true) over ({so_far}))"

    def _each_once(self) -> str:
        """One event for each place. What comes twice is dropped, what the change set replaces too, and two different
        events at one place are an error."""
        tie = f"partition by key, {'' if 'fresh' not in self.order else 'fresh, '}seq, rank order by fresh"
        near = "named_struct('fresh', fresh, 'replaces', replaces, 'facts', facts)"
        return (
            "(select key, seq, rank, closes, up, given, data, fresh, starts from "
            f"(select *, lag({near}) over ({tie}) as prior, lead({near}) over ({tie}) as next, "
            "collect_set(start) over (partition by key, seq) as starts, "
            "max(fresh and up) over (partition by key, seq) as returns, "
            "max(rank = 2 and not fresh) over (partition by key, seq) as undone "
            f"from (select *, {self._facts()} as facts from {self.events})) "
            "where case when rank = 2 and not fresh and returns then false "
            "when prior.facts <=> facts then false "
            f"when prior is not null and not (not prior.fresh and {self._may_replace()}) then {self._tie_error()} "
            "when not fresh and next is not null then next.facts <=> facts "
            "else true end)"
        )

    def _may_replace(self) -> str:
        """An event of the change set, an event of the target at the same place: the row was written again."""
        return "(replaces or undone)" if self.scd.late else "true"

    def _facts(self) -> str:
        data = struct((column, column.facts(column.of("data"))) for column in self.scd.data)
        return f"named_struct('up', up, 'given', given, 'data', if(up, {data}, null))"

    def _tie_error(self) -> str:
        scd = self.scd
        names = ", ".join(scd.unique_key)
        place = scd.config.sequence_by or "the commit"
        said = f"{scd.model}: two different changes of one unique_key ({names}) at one place of its order ({place}): "
        help_ = (
            ". Which of them is right cannot be known. Let sequence_by tell them apart, such as by a column "
            "struct(ts, n) of the SELECT, or make the key unique."
        )
        at = "to_json(struct(key, seq))"
        return f"cast(raise_error(concat({literal(said)}, {at}, {literal(help_)})) as boolean)"
