"""How many rows a table's change set reads, told by its log."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.file_changes import FileChanges
from dbt.adapters.streamspark.changes.log import Action
from dbt.adapters.streamspark.changes.marked_rows import live_rows, marked_count

# A statement that takes whole files away leaves their statistics out. Rows take more than so many bytes, as a rule.
A_ROW = 10


def changed_rows(files: FileChanges, by_size: bool = False) -> int | None:
    """Those of files at one end only, copied ones too, and those that a deletion vector hides at one end only; None
    when no statistics tell. `by_size`: of a file without them as many as its bytes may hold, where the log tells these.

    >>> file = {"path": "a", "stats": '{"numRecords": 8}'}
    >>> changed_rows(FileChanges(new=(file,), remarked=((file, {**file, "deletionVector": {"cardinality": 2}}),)))
    10
    >>> changed_rows(FileChanges(old=({"path": "a", "size": 905},)), by_size=True)
    90
    """
    rows = [_rows(file, by_size) for file in (*files.old, *files.new)]
    marked = [marked_count(old, new) for old, new in files.remarked]
    return None if None in rows else sum(row or 0 for row in rows) + sum(marked)


def _rows(file: Action, by_size: bool) -> int | None:
    known, size = live_rows(file), file.get("size")
    return size // A_ROW if by_size and known is None and size else known
