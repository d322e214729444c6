"""Which files differ between two versions of a table, from the commits between them (docs/concepts/readers.md).

No listing of either version is needed: the first action on a file tells whether it was there at the start,
the last whether it is there at the end. A file is a path and a deletion vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from dbt.adapters.streamspark.changes.log import Action, Commit

EMPTY = "EMPTY"
ADDED_ONLY = "ADDED_ONLY"
REMOVED_ONLY = "REMOVED_ONLY"
MINIMIZE = "MINIMIZE"
INITIAL_ROWS = "INITIAL_ROWS"

PRESERVED = "delta.rowTracking.preserved"  # a tag of commits whose new files keep the ids of the rows in them

FileKey = tuple[str, str]


@dataclass
class _Seen:
    """What the interval's commits said of one file (path and deletion vector)."""

    at_start: bool
    at_end: bool
    action: Action


@dataclass(frozen=True)
class FileChanges:
    """The files only at the start (`old`), only at the end (`new`), and those at both under different deletion
    vectors (`remarked`: old and new action of one path). `may_be_carried` tells which may hold rows of each
    other."""

    old: tuple[Action, ...] = ()
    new: tuple[Action, ...] = ()
    remarked: tuple[tuple[Action, Action], ...] = ()
    rewritten: frozenset[str] = frozenset()
    restored: int | None = None
    removal: dict[str, int] = field(default_factory=dict)

    @cached_property
    def shape(self) -> str:
        """The plan shape (paper, section 3.2.3)."""
        adds = bool(self.new) or bool(self.remarked and self.restored)
        removes = bool(self.old) or bool(self.remarked)
        if adds and removes:
            return MINIMIZE
        return ADDED_ONLY if adds else REMOVED_ONLY if removes else EMPTY

    def may_be_carried(self, path: str) -> bool:
        """Whether rows of this file may stand in another file at the other end."""
        return self.restored is not None or path in self.rewritten


def file_changes(commits: Sequence[Commit]) -> FileChanges:
    """The net file changes of consecutive commits, oldest first. Commits that all say that they change no data
    (compaction, statistics, row tracking backfill) are no change, as long as rows keep their ids."""
    if not any(changes_data(commit) for commit in commits):
        return FileChanges()
    commits = [_as_data_change(commit) if _loses_ids(commit) else commit for commit in commits]
    seen: dict[FileKey, _Seen] = {}
    for commit in commits:
        _record(commit, seen)
    gone = {key: s.action for key, s in seen.items() if s.at_start and not s.at_end}
    came = {key: s.action for key, s in seen.items() if s.at_end and not s.at_start}
    remarked = _same_path(gone, came)
    paths = {old["path"] for old, _ in remarked}
    return FileChanges(
        old=tuple(action for (path, _), action in gone.items() if path not in paths),
        new=tuple(action for (path, _), action in came.items() if path not in paths),
        remarked=remarked,
        rewritten=_rewritten(commits),
        restored=_restored(commits),
        removal=_removal_versions(commits),
    )


def changes_data(commit: Commit) -> bool:
    """Whether rows are others after it, or have other ids."""
    return any(action["dataChange"] for action in (*commit.adds, *commit.removes)) or _loses_ids(commit)


def _loses_ids(commit: Commit) -> bool:
    """Whether it wrote tracked rows again without their ids. A user's own compaction does, a write with the option
    dataChange=false; OPTIMIZE and REORG say that they keep them."""
    written = any(add.get("defaultRowCommitVersion") == commit.version for add in commit.adds)
    moved = written and any(not remove["dataChange"] for remove in commit.removes)
    return moved and (commit.info.get("tags") or {}).get(PRESERVED) != "true"


def _as_data_change(commit: Commit) -> Commit:
    adds, removes = ([{**action, "dataChange": True} for action in some] for some in (commit.adds, commit.removes))
    return replace(commit, adds=adds, removes=removes)


def _record(commit: Commit, seen: dict[FileKey, _Seen]) -> None:
    removed = {file_key(action): action for action in commit.removes}
    added = {file_key(action): action for action in commit.adds}
    stays = {key for key in removed.keys() & added.keys() if not _have_other_ids(removed[key], added[key])}
    for key in removed.keys() - stays:
        seen.setdefault(_place(key, removed[key], seen), _Seen(True, True, removed[key])).at_end = False
    for key in added.keys() - stays:
        place = _place(key, added[key], seen)
        if place in seen or not _restates(commit, added[key]):
            entry = seen.setdefault(place, _Seen(False, True, added[key]))
            entry.at_end, entry.action = True, added[key]


def _place(key: FileKey, action: Action, seen: dict[FileKey, _Seen]) -> FileKey:
    """Where a file is in `seen`. Removed and added with other row ids, as by a clone made again, it is another file."""
    other = (key[0], f"{key[1]} from row {action.get('baseRowId')}")
    if other in seen or (key in seen and _have_other_ids(seen[key].action, action)):
        return other
    return key


def _have_other_ids(one: Action, other: Action) -> bool:
    first, second = one.get("baseRowId"), other.get("baseRowId")
    return first is not None and second is not None and first != second


def _restates(commit: Commit, action: Action) -> bool:
    """An add that changes no data in a commit that removes nothing tells more of a live file (row tracking
    backfill, statistics): a rewrite would have to remove what it rewrote."""
    return not action["dataChange"] and not commit.removes


def _same_path(gone: dict[FileKey, Action], came: dict[FileKey, Action]) -> tuple[tuple[Action, Action], ...]:
    new_of = {path: action for (path, _), action in came.items()}
    pairs = ((action, new_of[path]) for (path, _), action in gone.items() if path in new_of)
    return tuple((old, new) for old, new in pairs if not _have_other_ids(old, new))


def _rewritten(commits: Sequence[Commit]) -> frozenset[str]:
    """Paths that took part in a commit which both removed rows and wrote new files: only these can have handed
    rows to each other. A new file of a commit that removed nothing holds only new rows."""
    paths: set[str] = set()
    for commit in commits:
        removed = {action["path"] for action in commit.removes}
        written = {action["path"] for action in commit.adds} - removed
        if removed and written:
            paths |= removed | written
    return frozenset(paths)


def _restored(commits: Sequence[Commit]) -> int | None:
    """The newest version that brought old files back (RESTORE): rows may come with old ids and old versions."""
    return max((commit.version for commit in commits if _brings_back(commit)), default=None)


def _brings_back(commit: Commit) -> bool:
    if commit.operation == "RESTORE":
        return True
    removed = {action["path"] for action in commit.removes}
    return any(
        add["dataChange"]
        and add.get("defaultRowCommitVersion", commit.version) < commit.version
        and add["path"] not in removed
        for add in commit.adds
    )


def _removal_versions(commits: Sequence[Commit]) -> dict[str, int]:
    """Path -> the commit that took rows of the file away. Where rows were moved on to a file that was itself
    removed inside the interval, that cannot be told without reading it: then the newest such commit."""
    removal: dict[str, int] = {}
    written: set[str] = set()
    newest_moved = 0
    for commit in commits:
        for action in commit.removes:
            if action["dataChange"]:
                removal[action["path"]] = commit.version
            if action["path"] in written:
                newest_moved = max(newest_moved, commit.version if action["dataChange"] else 0)
            elif not action["dataChange"]:
                removal.setdefault(action["path"], 0)
        written |= {action["path"] for action in commit.adds} - {action["path"] for action in commit.removes}
    return {path: max(version, newest_moved) for path, version in removal.items()}


def file_key(action: Action) -> FileKey:
    """Path and deletion vector: a file whose rows are marked otherwise is another one to the log."""
    return action["path"], _vector_id(action.get("deletionVector"))


def _vector_id(vector: dict[str, Any] | None) -> str:
    """Delta's unique id of a deletion vector; empty for none."""
    if not vector:
        return ""
    offset = f"@{vector['offset']}" if vector.get("offset") is not None else ""
    return f"{vector['storageType']}{vector['pathOrInlineDv']}{offset}"
