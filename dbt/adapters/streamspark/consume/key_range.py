"""Where in a target the keys of a change set are: what lets MERGE skip the target's other files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dbt.adapters.streamspark.changes.differentiate.keys import Column, known_columns
from dbt.adapters.streamspark.changes.differentiate.local_rows import Kept
from dbt.adapters.streamspark.changes.differentiate.narrows import narrows
from dbt.adapters.streamspark.changes.log import Action
from dbt.adapters.streamspark.changes.projection import quoted


@dataclass(frozen=True)
class KeyRange:
    """`test`: a predicate that the rows of `t` pass whose key is that of a change. `known`: what is known of each key
    column of the changes."""

    test: str
    known: Mapping[str, Column]


def key_range(kept: Kept, keys: Sequence[str], files: Sequence[Action] = ()) -> KeyRange:
    """Of the rows that were kept, changes with these key columns: few keys are listed, of many the ranges that they lie
    in are. The test is `true` where nothing can be told, or nothing worth a look of the target's `files`."""
    columns = known_columns(replace(kept, frame=kept.frame.select(*(quoted(key) for key in keys))))
    known = dict(zip(keys, columns, strict=True))
    tests = (column.test(f"t.{quoted(key)}") for key, column in known.items() if narrows(column, key, files))
    test = " and ".join(test for test in tests if test is not None) or "true"
    return KeyRange(test, known)
