"""A MERGE that brings a target's rows to those of a relation, and leaves rows that are the same unwritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.streamspark.consume.columns import Column
from dbt.adapters.streamspark.consume.merge import Merge, When


@dataclass(frozen=True)
class MergeRows:
    """`rows` is a relation, aliased s; `keys` and `values` are columns of the target, each with its SQL over s. Rows
    are matched by their keys; those for which `gone` (SQL over s) holds are deleted."""

    target: str
    rows: str
    keys: Sequence[tuple[Column, str]]
    values: Sequence[tuple[Column, str]]
    gone: str

    def sql(self) -> str:
        values = {column.name: sql for column, sql in self.values}
        keys = [(column.name, sql) for column, sql in self.keys]
        differs = " or ".join(f"not ({c.facts(c.of('t'))} <=> {c.facts(sql)})" for c, sql in self.values)
        changed = [When(f"({differs})", values)] if values else []
        added = When(f"not {self.gone}", {**dict(keys), **values})
        return Merge(self.target, self.rows, keys, [When(self.gone, None), *changed], added).sql()
