"""The SQL by which groups that a table keeps take up what an interval adds to them."""

from __future__ import annotations

from collections.abc import Callable

from dbt.adapters.streamspark.changes.differentiate.additive import LOST, ROWS, Additive
from dbt.adapters.streamspark.changes.differentiate.group_parts import Addend, Extreme, Mean
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.consume.merge import Merge, When
from dbt.adapters.streamspark.literals import literal


def additive_merge(
    additive: Additive, target: str, added: str, within: str, spared: Callable[[str], str] = lambda row: ""
) -> Merge:
    """The MERGE into `target` of the relation `added` (Additive.difference); `within` and `spared` as in
    ApplyChanges.merged. A group of fewer rows than none is an error: somebody else has written to the target."""
    sets = {
        **{one.column: _sum(one) for one in additive.addends},
        **{one.column: _mean(one, "t.{0} + s.{0}") for one in additive.means},
        **{one.column: _extreme(one) for one in additive.extremes},
        **{name: _checked(additive, target, name) for name in additive.hidden},
    }
    names = (*(part.column for part in additive.parts), *additive.hidden)
    matched = [When(f"t.{ROWS} + s.{ROWS} = 0{spared('t')}", None), When(f"true{spared('t')}", sets)]
    added_rows = When(f"s.{ROWS} <> 0{spared('s')}", {name: _first(additive, target, name) for name in names})
    keys = [(key, f"s.{quoted(key)}") for key in additive.keys]
    return Merge(target, added, keys, matched, added_rows, within)


def _sum(one: Addend) -> str:
    """A count, or a sum, which is NULL where it is of nothing."""
    name = quoted(one.column)
    if not one.values:
        return f"t.{name} + s.{name}"
    values = quoted(one.values)
    return f"if(t.{values} + s.{values} = 0, null, cast(coalesce(t.{name}, 0) + s.{name} as {one.type}))"


def _first_sum(one: Addend) -> str:
    return f"if(s.{quoted(one.values)} = 0, null, cast(s.{quoted(one.column)} as {one.type}))"


def _mean(one: Mean, added: str) -> str:
    """The average; `added` is SQL for what a kept column is now, whose name is put into it."""
    total, values = (added.format(quoted(name)) for name in (one.total, one.values))
    return f"if({values} = 0, null, cast(({total}) / cast({values} as decimal(20, 0)) as {one.type}))"


def _extreme(one: Extreme) -> str:
    name = quoted(one.column)
    return f"if(s.{LOST}, s.{name}, {one.of_two}(t.{name}, s.{name}))"


def _first(additive: Additive, target: str, name: str) -> str:
    means = {one.column: one for one in additive.means}
    if name in means:
        return _mean(means[name], "s.{0}")
    sums = {one.column: one for one in additive.addends if one.values}
    if name == ROWS:
        return _refused_below_none(additive, target, f"s.{ROWS}")
    return _first_sum(sums[name]) if name in sums else f"s.{quoted(name)}"


def _checked(additive: Additive, target: str, name: str) -> str:
    types = {one.total: one.total_type for one in additive.means}
    total = f"t.{quoted(name)} + s.{quoted(name)}"
    if name in types:
        return f"cast({total} as {types[name]})"
    return _refused_below_none(additive, target, total) if name == ROWS else total


def _refused_below_none(additive: Additive, target: str, rows: str) -> str:
    """`rows`, or an error that names the group."""
    key = ", ".join(f"{literal(key)}, s.{quoted(key)}" for key in additive.keys)
    said = (
        f"concat({literal(f'{target}: rows have gone from a group that had none of them: ')}, "
        f"to_json(named_struct({key})), "
        f"{literal('. Somebody else has written to the table; make it anew with --full-refresh.')})"
    )
    return f"if({rows} < 0, cast(raise_error({said}) as bigint), {rows})"
