"""What differs between two versions, told from file actions alone."""

from __future__ import annotations

from datetime import datetime, timezone
from importlib import import_module
from typing import Any

from dbt.adapters.streamspark.changes.file_changes import (
    ADDED_ONLY,
    EMPTY,
    MINIMIZE,
    REMOVED_ONLY,
    file_changes,
)
from dbt.adapters.streamspark.changes.log import Action, Commit


def file(path: str, vector: str = "", data: bool = True, version: int = 1, first_row: int = 0) -> Action:
    action: Action = {"path": path, "dataChange": data, "baseRowId": first_row, "defaultRowCommitVersion": version}
    if vector:
        action["deletionVector"] = {"storageType": "u", "pathOrInlineDv": vector, "offset": 1, "cardinality": 1}
    return action


def commit(version: int, adds: list[Action] = [], removes: list[Action] = [], **info: Any) -> Commit:  # noqa: B006
    return Commit(version, datetime.now(timezone.utc), info, adds, removes)


def paths(actions: tuple[Action, ...]) -> set[str]:
    return {action["path"] for action in actions}


def test_files_that_came_and_went_are_nowhere() -> None:
    changes = file_changes([commit(2, [file("a", version=2)]), commit(3, removes=[file("a", version=2)])])
    assert changes.shape == EMPTY


def test_new_files_only() -> None:
    changes = file_changes([commit(2, [file("a", version=2)]), commit(3, [file("b", version=3)])])
    assert (changes.shape, paths(changes.new)) == (ADDED_ONLY, {"a", "b"})
    assert not changes.may_be_carried("a")


def test_a_rewrite_may_carry_rows() -> None:
    changes = file_changes([commit(2, [file("b", version=2)], [file("a")])])
    assert (changes.shape, paths(changes.old), paths(changes.new)) == (MINIMIZE, {"a"}, {"b"})
    assert changes.may_be_carried("a") and changes.may_be_carried("b")


def test_a_grown_vector_takes_rows_away() -> None:
    changes = file_changes([commit(2, [file("a", "x")], [file("a")]), commit(3, [file("a", "y")], [file("a", "x")])])
    assert (changes.shape, changes.old, changes.new) == (REMOVED_ONLY, (), ())
    assert [(old.get("deletionVector"), new["deletionVector"]["pathOrInlineDv"]) for old, new in changes.remarked] == [
        (None, "y")
    ]
    assert not changes.may_be_carried("a")


def test_a_file_that_comes_back_with_other_ids_is_another_one() -> None:
    """As a shallow clone that is made again brings it."""
    gone, back = commit(2, removes=[file("a")]), commit(3, [file("a", version=3, first_row=10)])
    changes = file_changes([gone, back])
    assert (changes.shape, changes.remarked) == (MINIMIZE, ())
    assert [action["baseRowId"] for action in (*changes.old, *changes.new)] == [0, 10]
    marked = commit(4, [file("a", "x", version=3, first_row=10)], [file("a", version=3, first_row=10)])
    changes = file_changes([gone, back, marked])
    assert [action["baseRowId"] for action in (*changes.old, *changes.new)] == [0, 10] and not changes.remarked
    assert file_changes([gone, back, commit(4, removes=[file("a", version=3, first_row=10)])]).shape == REMOVED_ONLY
    assert file_changes([commit(2, [file("a", version=2, first_row=10)], [file("a")])]).shape == MINIMIZE
    assert file_changes([gone, commit(3, [file("a")], operation="RESTORE")]).shape == EMPTY


def test_a_restated_file_is_no_change() -> None:
    """Row tracking backfill and statistics add live files again."""
    assert file_changes([commit(2, [file("a", data=False)])]).shape == EMPTY
    assert file_changes([commit(2, [file("a", data=False)], [file("a", data=False)])]).shape == EMPTY


def test_compaction_is_a_rewrite_where_something_else_changed() -> None:
    moved = [file("b", data=False, version=2)], [file("a", data=False)]
    compaction = commit(2, *moved, tags={"delta.rowTracking.preserved": "true"})
    assert file_changes([compaction]).shape == EMPTY
    changes = file_changes([compaction, commit(3, [file("c", version=3)])])
    assert (changes.shape, changes.may_be_carried("b"), changes.may_be_carried("c")) == (MINIMIZE, True, False)


def test_compaction_that_keeps_no_ids_changes_every_row() -> None:
    """A user's own, by a write with dataChange=false; rows of a table without row tracking have no ids to lose."""
    moved = [file("b", data=False, version=2)], [file("a", data=False)]
    changes = file_changes([commit(2, *moved)])
    assert (changes.shape, paths(changes.old), paths(changes.new), changes.removal) == (
        MINIMIZE,
        {"a"},
        {"b"},
        {"a": 2},
    )
    untracked = [[{"path": one["path"], "dataChange": False} for one in some] for some in moved]
    assert file_changes([commit(2, *untracked)]).shape == EMPTY


def test_restore_makes_every_file_suspect() -> None:
    changes = file_changes([commit(2, removes=[file("a")]), commit(3, [file("a")], operation="RESTORE")])
    assert (changes.shape, changes.restored, changes.may_be_carried("z")) == (EMPTY, 3, True)


def test_a_delete_names_the_commit_of_its_file() -> None:
    changes = file_changes([commit(2, removes=[file("a")]), commit(5, removes=[file("b")])])
    assert changes.removal == {"a": 2, "b": 5}


def test_a_delete_after_a_move_names_the_newest_commit_it_can_be() -> None:
    moves = [commit(2, [file("b", version=2)], [file("a")]), commit(4, [file("c", version=4)], [file("b", version=2)])]
    assert file_changes(moves).removal["a"] == 4


def test_a_file_of_unknown_size_is_taken_for_a_large_one() -> None:
    reader = import_module("dbt.adapters.streamspark.changes.readers.endpoint_diff")
    assert reader._one_task_does([{"path": "a", "size": 1}, {"path": "b", "size": 2}])
    assert not reader._one_task_does([{"path": "a", "size": 1}, {"path": "b"}])
    assert not reader._one_task_does([{"path": "a", "size": reader.SMALL}])
