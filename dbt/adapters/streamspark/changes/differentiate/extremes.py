"""MIN and MAX of groups that a table keeps: a group that got rows takes the further of its own and theirs; of one that
lost rows they are found again among all that it has now (notes on differentiation)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbt.adapters.streamspark.changes.differentiate.delta import Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, Differentiation
from dbt.adapters.streamspark.changes.differentiate.group_parts import Extreme, Key, Part
from dbt.adapters.streamspark.changes.differentiate.keys import Keys
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.query.algebra import Operator, Term

LOST = "__lost"


def extremes(d: Differentiation, child: Operator, parts: Sequence[Part], delta: Delta, added: str) -> str:
    """The SELECT `added`, of what the interval adds to each group by its `delta`, with the extremes of all rows of the
    groups that LOST some. Only those groups are read."""
    keys = [part for part in parts if isinstance(part, Key)]
    terms = [Term(key.sql, frozenset()) for key in keys]
    if not delta.minus:
        return added
    lost = d.keys([(replace(delta, sql=f"(select * from {delta.sql} where __sign = -1)"), terms)])
    return added if lost.is_empty else _with_those_of_all(d, child, parts, lost, terms, added)


def _with_those_of_all(
    d: Differentiation, child: Operator, parts: Sequence[Part], lost: Keys, terms: Sequence[Term], added: str
) -> str:
    keys = [part for part in parts if isinstance(part, Key)]
    values = {part.column: f"__m{place}" for place, part in enumerate(parts) if isinstance(part, Extreme)}
    found = [f"{part.function}({part.sql}) as {values[part.column]}" for part in parts if isinstance(part, Extreme)]
    named = [f"{key.sql} as __g{place}" for place, key in enumerate(keys)]
    rows, grouped = d.restricted(child, END, lost, terms), ", ".join(key.sql for key in keys)
    whole = f"select {', '.join([*named, *found])} from {rows} group by {grouped}"
    same = " and ".join(f"a.{quoted(key.column)} <=> w.__g{place}" for place, key in enumerate(keys))
    taken = ", ".join(f"if(a.{LOST}, w.{value}, a.{quoted(name)}) as {quoted(name)}" for name, value in values.items())
    others = f"a.* except ({', '.join(map(quoted, values))})"
    return f"select {others}, {taken} from ({added}) a left join ({whole}) w on {same}"
