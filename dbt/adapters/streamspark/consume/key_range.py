"""Where in a target the keys of a change set are: what lets MERGE skip the target's other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbt.adapters.streamspark.changes.differentiate.keys import known_columns
from dbt.adapters.streamspark.changes.differentiate.local_rows import Kept
from dbt.adapters.streamspark.changes.differentiate.narrows import narrows
from dbt.adapters.streamspark.changes.log import Action
from dbt.adapters.streamspark.changes.projection import quoted


def key_range(kept: Kept, keys: Sequence[str], files: Sequence[Action] = ()) -> str:
    """A predicate that the rows of `t` pass whose key is one of the kept rows': few keys are listed, of many the
    ranges that they lie in are. `true` where nothing can be told, or nothing worth a look of the target's `files`."""
    columns = known_columns(replace(kept, frame=kept.frame.select(*(quoted(key) for key in keys))))
    told = ((key, column) for key, column in zip(keys, columns, strict=True) if narrows(column, key, files))
    tests = (column.test(f"t.{quoted(key)}") for key, column in told)
    return " and ".join(test for test in tests if test is not None) or "true"
