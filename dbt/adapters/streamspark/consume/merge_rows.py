"""A MERGE that brings a target's rows to those of a relation, and leaves rows that are the same unwritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.streamspark.consume.columns import Column


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
        on = " and ".join(f"{column.of('t')} <=> {sql}" for column, sql in self.keys)
        columns = ", ".join(column.quoted for column, _ in (*self.keys, *self.values))
        values = ", ".join(sql for _, sql in (*self.keys, *self.values))
        return (
            f"merge into {self.target} as t\nusing {self.rows} as s\non {on}\n"
            f"when matched and {self.gone} then delete\n{self._update()}"
            f"when not matched and not {self.gone} then insert ({columns}) values ({values})"
        )

    def _update(self) -> str:
        if not self.values:
            return ""
        differs = " or ".join(f"not ({c.facts(c.of('t'))} <=> {c.facts(sql)})" for c, sql in self.values)
        sets = ", ".join(f"{column.of('t')} = {sql}" for column, sql in self.values)
        return f"when matched and ({differs}) then update set {sets}\n"
