"""How much of a base table changed, from its log alone."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.streamspark.changes.differentiate.leaves import Leaf
from dbt.adapters.streamspark.changes.file_changes import FileChanges
from dbt.adapters.streamspark.changes.log import Action
from dbt.adapters.streamspark.changes.marked_rows import marked_share
from dbt.adapters.streamspark.changes.table_plan import bytes_of


@dataclass(frozen=True)
class Changed:
    """One base table: the bytes that `changed`, which are those of the files at one end only, and of others the part
    whose rows another deletion vector hides; the bytes of all files at both ends, if known; and those of the files at
    both ends some of whose rows are `marked`."""

    table: str
    changed: int
    whole: int | None
    marked: int = 0

    @property
    def share(self) -> float:
        if not self.changed:
            return 0.0
        return min(1.0, self.changed / self.whole) if self.whole else 1.0


def changed(leaf: Leaf) -> Changed:
    """Of the table over the leaf's interval."""
    known, files = leaf.interval.log.size(leaf.interval.end), leaf.interval.files
    marked = bytes_of([end for ends in files.remarked for end in ends])
    return Changed(leaf.table.name, _touched(files), None if known is None else 2 * known[1], marked)


def _touched(files: FileChanges) -> int:
    return bytes_of([*files.old, *files.new]) + sum(_marked(old, new) for old, new in files.remarked)


def _marked(old: Action, new: Action) -> int:
    """A few deleted rows in each file are no change of every file: only they are compared. Where nobody knows how many
    there are, the file is read whole at both ends."""
    share = marked_share(old, new)
    return bytes_of([old, new]) if share is None else round(share * bytes_of([new]))
