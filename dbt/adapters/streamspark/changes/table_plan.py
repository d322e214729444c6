"""What a change query reads of one base table, told by its log."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.streamspark.changes.change_plan import TablePlan
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, START, Differentiation
from dbt.adapters.streamspark.changes.differentiate.leaves import Leaf
from dbt.adapters.streamspark.changes.log import Action
from dbt.adapters.streamspark.changes.readers.append_only import inserted_files

Size = tuple[int | None, int | None]
NOTHING: Size = (0, 0)
UNKNOWN: Size = (None, None)


def table_plan(leaf: Leaf, appended: bool = False, looked_up: tuple[Size, Size] = (NOTHING, NOTHING)) -> TablePlan:
    """The files that changed, or with `appended` those that inserts wrote, and what is `looked_up` at either end."""
    before, after = _inserted(leaf) if appended else _changed(leaf)
    (start_files, start_bytes), (end_files, end_bytes) = looked_up
    return TablePlan(
        table=leaf.table.name,
        start=leaf.interval.start,
        end=leaf.interval.end,
        shape=leaf.shape_of(appended),
        files_at_start=len(before),
        bytes_at_start=bytes_of(before),
        files_at_end=len(after),
        bytes_at_end=bytes_of(after),
        looked_up_files_at_start=start_files,
        looked_up_bytes_at_start=start_bytes,
        looked_up_files_at_end=end_files,
        looked_up_bytes_at_end=end_bytes,
    )


def _changed(leaf: Leaf) -> tuple[list[Action], list[Action]]:
    files = leaf.interval.files
    before = [*files.old, *(old for old, _ in files.remarked)]
    return before, [*files.new, *(new for _, new in files.remarked)]


def _inserted(leaf: Leaf) -> tuple[list[Action], list[Action]]:
    return [], [file for _, files in inserted_files(leaf.interval.commits) for file in files]


def bytes_of(files: Sequence[Action]) -> int:
    """A remove need not say how large its file was."""
    return sum(int(file.get("size") or 0) for file in files)


def looked_up(d: Differentiation, leaf: Leaf, sql: str | None) -> tuple[Size, Size]:
    """Files and bytes of the table at the start and at the end, where `sql`, which `d` made, reads more of it than what
    changed."""
    return _looked_up(d, leaf, START, sql), _looked_up(d, leaf, END, sql)


def _looked_up(d: Differentiation, leaf: Leaf, end: bool, sql: str | None) -> Size:
    version = leaf.interval.end if end else leaf.interval.start
    if version is None or not d.reads(leaf.table, end, sql):
        return NOTHING
    return leaf.interval.log.size(version) or UNKNOWN
