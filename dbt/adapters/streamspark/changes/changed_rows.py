"""How many rows a table's change set reads, told by its log."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.file_changes import FileChanges
from dbt.adapters.streamspark.changes.marked_rows import live_rows, marked_count


def changed_rows(files: FileChanges) -> int | None:
    """Those of files at one end only, copied ones too, and those that a deletion vector hides at one end only; None
    when no statistics tell.

    >>> file = {"path": "a", "stats": '{"numRecords": 8}'}
    >>> changed_rows(FileChanges(new=(file,), remarked=((file, {**file, "deletionVector": {"cardinality": 2}}),)))
    10
    """
    rows = [live_rows(file) for file in (*files.old, *files.new)]
    marked = [marked_count(old, new) for old, new in files.remarked]
    return None if None in rows else sum(row or 0 for row in rows) + sum(marked)
