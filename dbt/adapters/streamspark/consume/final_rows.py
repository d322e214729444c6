"""The rows of a maintained target that are final (`immutable_where`): no run changes, removes or adds one.

The predicate is asked with the clock of the offset: a row is final from the point in time on up to which the target has
read its sources, so that what comes between two runs is never final before it was in the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import SparkSession
from sqlglot import exp, parse_one

from dbt.adapters.streamspark.changes.commit_times import OneTime
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.query.algebra import CLOCK
from dbt.adapters.streamspark.changes.query.dialects import PlainSpark
from dbt.adapters.streamspark.changes.query.not_covered import Node
from dbt.adapters.streamspark.changes.query.volatile import bind_clock, refuse_volatile
from dbt.adapters.streamspark.consume.predicate import predicate
from dbt.adapters.streamspark.errors import InvalidQuery

CONFIG = "immutable_where"
REFUSED = (exp.Query, exp.AggFunc, exp.Window)


@dataclass(frozen=True)
class FinalRows:
    """The rows for which `where`, with the clock `at`, holds; where it is NULL it does not."""

    where: Node
    at: datetime

    @property
    def columns(self) -> set[str]:
        """What the predicate looks at, in lower case."""
        return {part.parts[0].name.lower() for part in self.where.find_all(exp.Column)}

    def has(self, row: str = "") -> str:
        """Whether the row is final, as SQL; `row` is what its columns are called by, such as `s.new`."""
        named = self.where.transform(lambda part: _of(row, part) if row else part)
        return f"coalesce({named.sql('spark', identify=True)}, false)".replace(CLOCK, OneTime(self.at).sql())

    def spared(self, row: str) -> str:
        """What a WHEN clause of a MERGE says more, so that it leaves final rows alone."""
        return f" and not {self.has(row)}"

    def kept(self, sql: str, target: str, columns: Sequence[str], its: Sequence[str], keys: Sequence[str]) -> str:
        """The SELECT of what `target`, whose columns are `its`, is made anew from: its final rows as they are, and
        those of `sql`, which has `columns`, that are not final and have the key of none that is."""
        known = {name.lower() for name in its}
        held = ", ".join(quoted(c) if c.lower() in known else f"null as {quoted(c)}" for c in columns)
        same = " and ".join(f"f.{quoted(key)} <=> n.{quoted(key)}" for key in keys if key.lower() in known)
        final = f"select * from {target} where {self.has()}"
        taken = f" and not exists (select 1 from ({final}) as f where {same})" if same else ""
        listed = ", ".join(map(quoted, columns))
        new = f"select {listed} from ({sql}) as n where not {self.has('n')}{taken}"
        return f"{new}\nunion all\nselect {held} from ({final})"


def final_rows(spark: SparkSession, text: str, columns: Sequence[str], at: datetime) -> FinalRows:
    """The final rows of a model that has `columns`. Raises InvalidQuery for anything else than a predicate over one
    row, and UnsupportedQuery for one whose answer differs each time it is asked."""
    where = parse_one(predicate(spark, text, CONFIG), dialect=PlainSpark)
    if any(where.find_all(*REFUSED)):
        raise InvalidQuery(f"{CONFIG} = {text!r} looks at more than one row, so it cannot say which are final")
    known = {name.lower() for name in columns}
    missing = sorted({part.parts[0].name for part in where.find_all(exp.Column)} - {*columns})
    missing = [name for name in missing if name.lower() not in known]
    if missing:
        raise InvalidQuery(f"{CONFIG} = {text!r}: there is no column {', '.join(missing)}, only {', '.join(columns)}")
    refuse_volatile(where, known)
    return FinalRows(bind_clock(where), at)


def _of(row: str, part: Node) -> Node:
    if not isinstance(part, exp.Column):
        return part
    return exp.Dot.build([*(exp.to_identifier(name) for name in row.split(".")), *(one.copy() for one in part.parts)])
