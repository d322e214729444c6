"""Groups whose aggregates add up: what an interval adds to each, told by the rows that changed alone.

That is for a result which somebody keeps, since it tells no group's value, only the difference. A kept group has more
columns than the query gives: ROWS, the number of its rows, for each sum and average how many values are in it, as the
sum of none is NULL, and for each average their sum. Counts, and sums of whole numbers and decimals, add up exactly,
and averages of decimals are the quotients of such sums; others do not. Of a least or greatest value a group that got
rows takes the further of its own and theirs; where it lost rows, which LOST tells, it is found again among all that
the group has now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeGuard

from pyspark.sql.types import BooleanType, DataType, DecimalType, LongType, StructField, TimestampNTZType, TimestampType
from sqlglot import exp, parse_one

from dbt.adapters.streamspark.changes.differentiate.delta import Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, Differentiation
from dbt.adapters.streamspark.changes.differentiate.group_parts import Addend, Extreme, Key, Mean, Part
from dbt.adapters.streamspark.changes.differentiate.keys import plain_type
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.query.algebra import Aggregate, Operator, Project, Term
from dbt.adapters.streamspark.changes.query.dialects import PlainSpark
from dbt.adapters.streamspark.changes.query.lowered import Lowered
from dbt.adapters.streamspark.changes.query.not_covered import Node

ROWS, LOST = "__count", "__lost"
# An average of decimal(p, s) is a decimal(p + 4, s + 4). Up to there the quotient of sum and count has so many more
# digits that it is rounded as Spark's own average is, for a billion values of a group.
MOST_DIGITS = 19
# Spark's minus sign keeps 34 digits of a decimal. A difference of two keeps all 38 with up to six after the point.
LONGEST, EXACT_SCALE = 38, 6


@dataclass(frozen=True)
class Additive:
    """`parts` are the columns of the result, in order; `child` is what is grouped."""

    child: Operator
    parts: tuple[Part, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(part.column for part in self.parts if isinstance(part, Key))

    @property
    def addends(self) -> tuple[Addend, ...]:
        return tuple(part for part in self.parts if isinstance(part, Addend))

    @property
    def means(self) -> tuple[Mean, ...]:
        return tuple(part for part in self.parts if isinstance(part, Mean))

    @property
    def extremes(self) -> tuple[Extreme, ...]:
        return tuple(part for part in self.parts if isinstance(part, Extreme))

    @property
    def hidden(self) -> tuple[str, ...]:
        """What a kept group has beside the query's columns."""
        counts = (part.values for part in self.parts if isinstance(part, Addend | Mean) and part.values)
        return (ROWS, *counts, *(mean.total for mean in self.means))

    def groups(self, d: Differentiation) -> str:
        """The SELECT of all groups at the end, as they are to be kept."""
        return self._grouped(d.at(self.child, END), self._whole())

    def difference(self, d: Differentiation) -> str:
        """The SELECT of what the interval adds to each group that it changes, in the same columns; where there are
        extremes, LOST tells of which groups they are those of all rows."""
        delta = d.kept(self.child) if self.extremes else d.delta(self.child)
        if delta is None:
            lost = f", false as {LOST}" if self.extremes else ""
            return f"select *{lost} from ({self.groups(d)}) where false"
        added = self._grouped(delta.sql, self._added())
        changed = " or ".join(f"{quoted(name)} <> 0" for name in (*(a.column for a in self.addends), *self.hidden))
        if not self.extremes:
            return f"select * from ({added}) where {changed}"
        return f"select * from ({self._found_again(d, delta, added)}) where {changed} or {LOST}"

    def no_groups(self, difference: str) -> str:
        """The columns of groups, from those of a difference, which is empty."""
        return f"select * except ({LOST}) from ({difference})" if self.extremes else difference

    def _found_again(self, d: Differentiation, delta: Delta, added: str) -> str:
        """The SELECT `added` with the extremes of all rows of the groups that LOST some; no others are read."""
        terms = [Term(part.sql, frozenset()) for part in self.parts if isinstance(part, Key)]
        lost = replace(delta, sql=f"(select * from {delta.sql} where __sign = -1)")
        keys = d.keys([(lost, terms)]) if delta.minus else None
        if keys is None or keys.is_empty:
            return added
        whole = self._grouped(d.restricted(self.child, END, keys, terms), self._whole())
        same = " and ".join(f"a.{quoted(key)} <=> w.{quoted(key)}" for key in self.keys)
        names = [quoted(one.column) for one in self.extremes]
        taken = ", ".join(f"if(a.{LOST}, w.{name}, a.{name}) as {name}" for name in names)
        return f"select a.* except ({', '.join(names)}), {taken} from ({added}) a left join ({whole}) w on {same}"

    def _grouped(self, relation: str, columns: Iterable[tuple[str, str]]) -> str:
        made = [f"{sql} as {quoted(name)}" for name, sql in columns]
        values = [f"{part.sql} as __v{place}" for place, part in enumerate(self.parts)]
        keys = [f"__v{place}" for place, part in enumerate(self.parts) if isinstance(part, Key)]
        rows = f"(select *, {', '.join(values)} from {relation})"
        return f"select {', '.join(made)} from {rows} group by {', '.join(keys)}"

    def _whole(self) -> Iterator[tuple[str, str]]:
        for place, part in enumerate(self.parts):
            value = f"__v{place}"
            yield part.column, value if isinstance(part, Key) else f"{_function(part)}({value})"
        yield ROWS, "count(*)"
        yield from ((part.values, f"count(__v{place})") for place, part in self._sums())
        for place, part in self._sums():
            if isinstance(part, Mean):
                yield part.total, f"cast(coalesce(sum(__v{place}), 0) as {part.total_type})"

    def _added(self) -> Iterator[tuple[str, str]]:
        for place, part in enumerate(self.parts):
            yield part.column, f"__v{place}" if isinstance(part, Key) else _signed(part, f"__v{place}")
        yield ROWS, "sum(__sign)"
        yield from ((part.values, _signed_count(f"__v{place}")) for place, part in self._sums())
        yield from ((part.total, _signed(part.sum, f"__v{n}")) for n, part in self._sums() if isinstance(part, Mean))
        if self.extremes:
            yield LOST, "bool_or(__sign = -1)"

    def _sums(self) -> Iterator[tuple[int, Addend | Mean]]:
        return ((n, part) for n, part in enumerate(self.parts) if isinstance(part, Addend | Mean) and part.values)


def _function(part: Addend | Mean | Extreme) -> str:
    if isinstance(part, Extreme):
        return part.function
    if isinstance(part, Mean):
        return "avg"
    return "sum" if part.values else "count"


def _signed(part: Addend | Mean | Extreme, value: str) -> str:
    """What an interval adds; of an average nothing, which the merge makes of its sum and count."""
    if isinstance(part, Extreme):
        return f"{part.function}(if(__sign = 1, {value}, null))"
    if isinstance(part, Mean):
        return f"cast(null as {part.type})"
    if not part.values:
        return _signed_count(value)
    exact = f"cast({value} as {part.addend_type})"
    long = part.addend_type.startswith(f"decimal({LONGEST},")
    negative = f"cast(0 as {part.addend_type}) - {exact}" if long else f"-{exact}"
    return f"cast(coalesce(sum(if(__sign = 1, {exact}, {negative})), 0) as {part.added_type})"


def _signed_count(value: str) -> str:
    return f"sum(if({value} is null, 0, __sign))"


def additive(found: Lowered) -> Additive | None:
    """How the groups of a query add up; None for any other query, and for one that does not give all of its keys, or
    whose keys or aggregates ask the time: they change in rows that do not."""
    node, given = found.root, {name: name for name in found.ours}
    if isinstance(node, Project):
        given, node = {name: term.sql for name, term in node.items}, node.child
    if not isinstance(node, Aggregate) or node.reads_clock:
        return None
    pairs = zip(found.ours, found.schema.fields, strict=True)
    parts = [_part(node, given[ours], field) for ours, field in pairs]
    made = Additive(node.child, tuple(part for part in parts if part is not None))
    keys = {given[ours] for ours in found.ours} & {name for name, _ in node.keys}
    names = {field.name.lower() for field in found.schema.fields}
    whole = None not in parts and node.keys and len(keys) == len(node.keys) and not names & {*made.hidden, LOST}
    return made if whole else None


def _part(node: Aggregate, name: str, field: StructField) -> Part | None:
    keys, aggregates = dict(node.keys), dict(node.aggregates)
    if name in keys:
        return Key(field.name, keys[name].sql)
    return _addend(field, parse_one(aggregates[name].sql, dialect=PlainSpark)) if name in aggregates else None


def _addend(field: StructField, call: Node) -> Addend | Mean | Extreme | None:
    value, kind, name = call.this, field.dataType, field.name.lower()
    if isinstance(call, exp.Count) and not call.expressions and not isinstance(value, exp.Distinct):
        counted = "1" if value is None or isinstance(value, exp.Star) else value.sql("spark")
        return Addend(field.name, counted, kind.simpleString())
    if isinstance(call, exp.Sum) and _is_exact(kind) and not isinstance(value, exp.Distinct):
        return Addend(field.name, value.sql("spark"), kind.simpleString(), f"__count_of_{name}")
    if isinstance(call, exp.Avg) and not isinstance(value, exp.Distinct) and _is_short(kind):
        total = DecimalType(kind.precision + 6, kind.scale - 4).simpleString()
        names = {"total": f"__sum_of_{name}", "values": f"__count_of_{name}"}
        return Mean(field.name, value.sql("spark"), kind.simpleString(), total_type=total, **names)
    if isinstance(call, exp.Min | exp.Max) and not isinstance(value, exp.Distinct) and _is_ordered(kind):
        return Extreme(field.name, value.sql("spark"), "min" if isinstance(call, exp.Min) else "max")
    return None


def _is_ordered(kind: DataType) -> bool:
    """Whether values that are as great as each other are the same: floats and collated texts need not be."""
    return plain_type(kind) or isinstance(kind, BooleanType | TimestampType | TimestampNTZType)


def _is_exact(kind: DataType) -> bool:
    long = isinstance(kind, DecimalType) and kind.precision == LONGEST and kind.scale > EXACT_SCALE
    return isinstance(kind, LongType | DecimalType) and not long


def _is_short(kind: DataType) -> TypeGuard[DecimalType]:
    return isinstance(kind, DecimalType) and kind.precision <= MOST_DIGITS
