"""Where in a target the keys of a change set are: what lets MERGE skip the target's other files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dbt.adapters.streamspark.changes.differentiate.keys import Column, known_columns
from dbt.adapters.streamspark.changes.differentiate.local_rows import Kept
from dbt.adapters.streamspark.changes.differentiate.narrows import narrows, spared
from dbt.adapters.streamspark.changes.log import Action
from dbt.adapters.streamspark.changes.projection import quoted

LEAST = 200_000  # rows that are spared: fewer take as long as the set takes to be made


@dataclass(frozen=True)
class KeyRange:
    """`test`: a predicate that the rows of `t` pass whose key is that of a change. `known`: what is known of each key
    column of the changes; the values of that alone for which rows are to be asked (members.py), if there is one."""

    test: str
    known: Mapping[str, Column]


def key_range(kept: Kept, keys: Sequence[str], files: Sequence[Action] = ()) -> KeyRange:
    """Of the rows that were kept, changes with these key columns: few keys are listed, of many the ranges that they lie
    in are. The test is `true` where nothing can be told, or nothing worth a look of the target's `files`."""
    columns = known_columns(replace(kept, frame=kept.frame.select(*(quoted(key) for key in keys))))
    known = dict(zip(keys, columns, strict=True))
    tests = (column.test(f"t.{quoted(key)}") for key, column in known.items() if narrows(column, key, files))
    test = " and ".join(test for test in tests if test is not None) or "true"
    by_set = {key: spared(column, key, files) for key, column in known.items()}
    asked = {key for key, rows in by_set.items() if rows == max(by_set.values()) >= LEAST}
    return KeyRange(test, {key: column if key in asked else column.in_short for key, column in known.items()})
