"""One change query being put together: the rows of each operator at either end, and its delta by its rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StructType

from dbt.adapters.streamspark.changes.differentiate.copies import numbered
from dbt.adapters.streamspark.changes.differentiate.delta import SIGNED, Delta, difference
from dbt.adapters.streamspark.changes.differentiate.keys import Column, Keys, having, known_columns
from dbt.adapters.streamspark.changes.differentiate.leaves import ROW_ID, Leaf
from dbt.adapters.streamspark.changes.differentiate.local_rows import Kept, keep
from dbt.adapters.streamspark.changes.differentiate.narrows import narrows
from dbt.adapters.streamspark.changes.differentiate.netted import netted
from dbt.adapters.streamspark.changes.differentiate.rows import rows
from dbt.adapters.streamspark.changes.differentiate.snapshots import files_at
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.changes.missing_files import named_files
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.query.algebra import CLOCK, Constant, Opaque, Operator, Scan, Term
from dbt.adapters.streamspark.changes.query.base_tables import BaseTable

START, END = False, True
Rule = Callable[["Differentiation", Operator], Delta | None]


@dataclass
class Differentiation:
    """`leaves` maps token to base table, `clocks` an end to the SQL of its time. `rules`: operator -> rule, which
    gives None for an operator that has not changed. `appended`: only rows freshly inserted, for the append-only
    format. `dry`: nothing is run, for explain. `many`: more rows may have changed than the driver holds. `kept_sql` is
    what was computed on the way."""

    views: Views
    leaves: Mapping[str, Leaf]
    clocks: Mapping[bool, str]
    rules: Mapping[type[Operator], Rule]
    appended: bool = False
    dry: bool = False
    many: bool = False
    kept_sql: list[str] = field(default_factory=list)
    _origins: dict[str, tuple[BaseTable, str]] = field(default_factory=dict)
    _memory: dict[object, object] = field(default_factory=dict)

    def _once(self, key: object, make: Callable[[], object]) -> object:
        if key not in self._memory:
            self._memory[key] = make()
        return self._memory[key]

    # rows at an end

    def at(self, node: Operator, end: bool) -> str:
        """The relation of the operator's rows at one end: its columns and `__id`."""
        return str(self._once(("at", node, end), lambda: self._rows_at(node, end)))

    def _rows_at(self, node: Operator, end: bool) -> str:
        if isinstance(node, Scan):
            self._origins |= {name: (node.table, column) for column, name in node.names.items()}
            columns = [f"{quoted(column)} as {name}" for column, name in node.names.items()]
            return f"(select {', '.join([*columns, f'{ROW_ID} as __id'])} from {self.table(node.table, end)})"
        if isinstance(node, Constant):
            return f"({self.timed(node.sql, end)})"
        if isinstance(node, Opaque):
            return f"({numbered(node.columns, self.types(node, END), self.text(node, end))})"
        return self.rows(node, [self.at(child, end) for child in node.inputs], end)

    def rows(self, node: Operator, inputs: Sequence[str], end: bool) -> str:
        """The operator over other inputs than its own, at one end's time."""
        return f"({self.timed(rows(node, inputs), end)})"

    def text(self, node: Opaque, end: bool) -> str:
        """The relation of an opaque query's rows at one end, without ids."""
        name = self._once(("text", node, end), lambda: self.views.add(self._asked(node, end), what="query"))
        return f"(select * from {name} as __opaque ({', '.join(node.columns)}))"

    def _asked(self, node: Opaque, end: bool) -> DataFrame:
        """The user's words by themselves: behind `map(` or `struct(`, Spark takes `>>` for the end of two types."""
        sql = self.timed(node.sql, end)
        for table in node.tables:
            columns = ", ".join(quoted(name) for name in self.leaves[table.token].columns)
            sql = sql.replace(table.token, f"(select {columns} from {self.table(table, end)})")
        self.kept_sql.append(sql)
        return self.ask(sql)

    def timed(self, sql: str, end: bool = END) -> str:
        return sql.replace(CLOCK, self.clocks[end])

    def table(self, table: BaseTable, end: bool) -> str:
        """The name of a base table's rows at one end."""
        leaf, what = self.leaves[table.token], f"{table.name} at {'end' if end else 'start'}"
        rows = leaf.no_rows if self.dry else lambda: leaf.rows(end)
        return str(self._once(("table", table.token, end), lambda: self.views.add(rows(), what=what)))

    def reads(self, table: BaseTable, end: bool, sql: str | None) -> bool:
        """Whether `sql`, or what was computed for it, reads a base table's rows at one end beside its changes."""
        name = self._memory.get(("table", table.token, end))
        return name is not None and any(str(name) in text for text in (*self.kept_sql, sql or ""))

    def changes_of(self, table: BaseTable) -> str:
        """The name of a base table's change rows."""
        what = f"{table.name} changes"
        return str(self._once(("changes", table.token), lambda: self.views.add(self._changes(table), what=what)))

    def _changes(self, table: BaseTable) -> DataFrame:
        """What a self join or the like would compare again for each time that it names the table is kept."""
        leaf = self.leaves[table.token]
        frame = leaf.changes(self.appended)
        return self._kept(frame).frame if leaf.scans > 1 else frame

    def after(self, node: Operator) -> str:
        """The rows that a term of a rule meets on the side that has moved already: those at the end or, where only
        inserts count, those at the start and those inserted since (document 000, streams on joins)."""
        delta = self.delta(node) if self.appended else None
        if not self.appended:
            return self.at(node, END)
        if delta is None:
            return self.at(node, START)
        listed = ", ".join((*node.columns, "__id"))
        return f"(select {listed} from {self.at(node, START)} union all select {listed} from {delta.sql})"

    # deltas

    def delta(self, node: Operator) -> Delta | None:
        """The operator's signed rows; None where nothing that it reads has changed."""
        return self._once(("delta", node), lambda: self._delta(node))  # type: ignore[return-value]

    def _delta(self, node: Operator) -> Delta | None:
        if not self.has_changed(node):
            return None
        if self.has_two_times(node):
            return self.whole(node)
        return self.rules[type(node)](self, node)

    def has_changed(self, node: Operator) -> bool:
        """Whether a table that the operator reads has, or the time where it reads the clock."""
        if any(not self.leaves[table.token].is_empty(self.appended) for table in tables_of(node)):
            return True
        return any(self.has_two_times(part) for part in node.walk())

    def has_two_times(self, node: Operator) -> bool:
        """Whether the operator tells the time, and it is another one at either end. Inserts are all as at the end."""
        return node.reads_clock and self.clocks[START] != self.clocks[END] and not self.appended

    def whole(self, node: Operator) -> Delta:
        """All rows at both ends: for what has no smaller part that could be told to hold every change."""
        return difference(node.columns, self.at(node, START), self.at(node, END))

    def kept(self, node: Operator) -> Delta | None:
        """The delta, minimised and computed once, for rules that read it more than once. None when it is empty."""
        return self._once(("kept", node), lambda: self._computed(node))  # type: ignore[return-value]

    def _computed(self, node: Operator) -> Delta | None:
        delta = self.delta(node)
        if delta is None:
            return None
        listed = ", ".join((*node.columns, "__id", *SIGNED))
        sql = f"select {listed} from {delta.sql if delta.net else self.minimal(node.columns, delta)}"
        kept = self.keep(sql)
        return (
            None if kept.count == 0 else Delta(self.views.add(kept.frame, what="delta"), delta.minus, delta.plus, kept)
        )

    def minimal(self, columns: Sequence[str], delta: Delta) -> str:
        """The relation of the delta's net changes."""
        if delta.one_sided:
            return f"(select *, false as __paired from {delta.sql})"
        return f"({netted(columns, delta.sql, self.schema(f'select * from {delta.sql}'))})"

    # keys

    def keys(self, sources: Sequence[tuple[Delta, Sequence[Term]]]) -> Keys:
        """The values of each delta's expressions, in one list; distinct ones, unless the driver has them all."""
        selects = [
            f"select {', '.join(f'{term.sql} as __k{place}' for place, term in enumerate(terms))} from {delta.sql}"
            for delta, terms in sources
        ]
        sql, held = " union all ".join(selects), [n for delta, _ in sources if (n := delta.rows_held) is not None]
        all_held = len(held) == len(sources)
        kept = Kept(self.ask(sql), sum(held), True) if all_held else self.keep(f"select distinct * from ({sql})")
        return Keys(self.views.add(kept.frame, what="keys"), known_columns(kept), kept.count == 0)

    def met(self, relation: str, expressions: Sequence[Term], delta: Delta, terms: Sequence[Term]) -> str:
        """The rows of a relation that may meet a kept delta where `expressions` equal the delta's `terms`: an exact
        join follows."""
        if not terms or delta.kept is None:
            return relation
        listed = ", ".join(f"{term.sql} as __k{place}" for place, term in enumerate(terms))
        values = replace(delta.kept, frame=self.ask(f"select {listed} from {delta.sql}"))
        return having(relation, known_columns(values), [term.sql for term in expressions], self.narrows)

    def restricted(self, node: Operator, end: bool, keys: Keys, terms: Sequence[Term]) -> str:
        """The operator's rows at one end whose expressions are one of the keys."""
        return keys.restrict(self.at(node, end), [term.sql for term in terms], self.narrows)

    def narrows(self, expression: str, key: Column) -> bool:
        """Whether a test of the values of `expression` spares enough of a table's rows; of what is no column of a table
        nobody knows."""
        if self.dry or expression not in self._origins:
            return True
        table, column = self._origins[expression]
        interval = self.leaves[table.token].interval
        return narrows(key, column, files_at(interval.log, interval.end) or ())

    # Spark

    def ask(self, sql: str) -> DataFrame:
        """What still has no time is as at the end: where there are two, each side has got its own by now."""
        return self.views.spark.sql(self.timed(sql))

    def keep(self, sql: str) -> Kept:
        self.kept_sql.append(sql)
        return self._kept(self.ask(sql))

    def _kept(self, frame: DataFrame) -> Kept:
        if self.dry:
            return Kept(frame, None)
        with named_files(leaf.interval.log for leaf in self.leaves.values()):
            return keep(frame, self.many)

    def schema(self, sql: str) -> StructType:
        return self.ask(sql).schema

    def types(self, node: Operator, end: bool, terms: Sequence[Term] | None = None) -> list[DataType]:
        """The types of the operator's columns, or of expressions over them."""
        listed = node.columns if terms is None else [term.sql for term in terms]
        named = ", ".join(f"{sql} as __t{place}" for place, sql in enumerate(listed)) or "0 as __none"
        relation = self.text(node, end) if isinstance(node, Opaque) else self.at(node, end)
        return [field.dataType for field in self.schema(f"select {named} from {relation}").fields][: len(listed)]


def tables_of(node: Operator) -> list[BaseTable]:
    """The base tables that the operator reads, directly or not."""
    found = [part.table for part in node.walk() if isinstance(part, Scan)]
    opaque = [table for part in node.walk() if isinstance(part, Opaque) for table in part.tables]
    return list(dict.fromkeys([*found, *opaque]))
