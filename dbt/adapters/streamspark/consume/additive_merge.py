"""The SQL by which groups that a table keeps take up what an interval adds to them."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.additive import ROWS, Addend, Additive
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.literals import literal


def additive_merge(additive: Additive, target: str, added: str, within: str) -> str:
    """The MERGE into `target` of the relation `added` (Additive.difference); `within` as in StreamRead. A group of
    fewer rows than none is an error: somebody else has written to the target."""
    on = [f"t.{quoted(key)} <=> s.{quoted(key)}" for key in additive.keys]
    names = (*(part.column for part in additive.parts), *additive.hidden)
    counts = [f"t.{quoted(name)} = {_checked(additive, target, name)}" for name in additive.hidden]
    sets = ", ".join([*(f"t.{quoted(one.column)} = {_sum(one)}" for one in additive.addends), *counts])
    values = ", ".join(_first(additive, target, name) for name in names)
    return (
        f"merge into {target} as t\nusing {added} as s\non {' and '.join([*on, *([within] if within else [])])}\n"
        f"when matched and t.{ROWS} + s.{ROWS} = 0 then delete\n"
        f"when matched then update set {sets}\n"
        f"when not matched and s.{ROWS} <> 0 then insert ({', '.join(map(quoted, names))}) values ({values})"
    )


def _sum(one: Addend) -> str:
    """A count, or a sum, which is NULL where it is of nothing."""
    name = quoted(one.column)
    if not one.values:
        return f"t.{name} + s.{name}"
    values = quoted(one.values)
    return f"if(t.{values} + s.{values} = 0, null, cast(coalesce(t.{name}, 0) + s.{name} as {one.type}))"


def _first(additive: Additive, target: str, name: str) -> str:
    sums = {one.column: one.values for one in additive.addends if one.values}
    if name == ROWS:
        return _refused_below_none(additive, target, f"s.{ROWS}")
    return f"if(s.{quoted(sums[name])} = 0, null, s.{quoted(name)})" if name in sums else f"s.{quoted(name)}"


def _checked(additive: Additive, target: str, name: str) -> str:
    total = f"t.{quoted(name)} + s.{quoted(name)}"
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
