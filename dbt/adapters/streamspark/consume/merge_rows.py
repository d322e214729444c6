"""A MERGE that brings a target's rows to those of a relation, and leaves rows that are the same unwritten."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.streamspark.consume.columns import Column
from dbt.adapters.streamspark.consume.merge import Merge, When


def merge_rows(
    target: str, rows: str, keys: Sequence[tuple[Column, str]], values: Sequence[tuple[Column, str]], gone: str
) -> Merge:
    """`rows` is a relation, aliased s; `keys` and `values` are columns of the target, each with its SQL over s. Rows
    are matched by their keys; those for which `gone` (SQL over s) holds are deleted."""
    by_name, by_key = ({column.name: sql for column, sql in pairs} for pairs in (values, keys))
    differs = " or ".join(f"not ({c.facts(c.of('t'))} <=> {c.facts(sql)})" for c, sql in values)
    changed = [When(f"({differs})", by_name)] if values else []
    added = When(f"not {gone}", {**by_key, **by_name})
    return Merge(target, rows, list(by_key.items()), [When(gone, None), *changed], added)
