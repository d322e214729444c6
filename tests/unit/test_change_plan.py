"""What a plan says of a table, in words. No Spark."""

from __future__ import annotations

import pytest

from dbt.adapters.streamspark.changes.change_plan import CommitPlan, TablePlan


def plan(**more: int | None) -> TablePlan:
    return TablePlan("db.t", 3, 4, "ADDED_ONLY", 0, 0, 2, 1400, **more)


@pytest.mark.parametrize(
    ("looked_up", "said"),
    [
        ({}, "not looked up"),
        (
            {"looked_up_files_at_end": 5, "looked_up_bytes_at_end": 12345},
            "looked up at the end: in 5 files, 12,345 bytes",
        ),
        (
            {"looked_up_files_at_start": None, "looked_up_bytes_at_start": None},
            "looked up at the start: in files of unknown size",
        ),
    ],
)
def test_a_table(looked_up: dict[str, int | None], said: str) -> None:
    read = "0 files, 0 bytes at the start; 2 files, 1,400 bytes at the end"
    assert str(plan(**looked_up)) == f"db.t (3, 4] ADDED_ONLY: {read}; {said}"


def test_a_commit() -> None:
    assert str(CommitPlan("db.t", 4, (plan(),), "select 1")) == f"version 4 of db.t: {plan()}"
    assert str(CommitPlan("db.t", 4, (plan(),))) == "version 4 of db.t: nothing changed"
