"""Whether a differential target follows its query's changes or is made anew, told from sizes and times alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dbt.adapters.streamspark.changes.change_query import QueryInterval
from dbt.adapters.streamspark.changes.file_changes import FileChanges
from dbt.adapters.streamspark.changes.log import Action, TableLog
from dbt.adapters.streamspark.changes.query.algebra import Aggregate, Filter, Join, Operator, Term, Text, TopK
from dbt.adapters.streamspark.consume.assumed import ADDED, ALONE, GROUPS, MANY_GROUPS, Assumed, assumed
from dbt.adapters.streamspark.consume.changed import Changed
from dbt.adapters.streamspark.consume.costs import FEW, Begun, Costs, Took
from dbt.adapters.streamspark.consume.refresh import SMALL, Refresh, by_time, refresh
from dbt.adapters.streamspark.consume.target import may_be_followed

ROWS = 1000
WHOLE = 4000  # bytes of the table at the end
ORDERS = Text("select 1 as o", ["o"])


def file(size: int = 1000, hidden: int = 0, rows: int | None = ROWS) -> Action:
    vector = {"deletionVector": {"cardinality": hidden}} if hidden else {}
    stats = {} if rows is None else {"stats": json.dumps({"numRecords": rows})}
    return {"path": "a", "size": size, **vector, **stats}


def remarked(before: int, after: int, rows: int | None = ROWS) -> FileChanges:
    return FileChanges(remarked=((file(hidden=before, rows=rows), file(hidden=after, rows=rows)),))


def chosen(files: FileChanges, asked: str = "auto") -> Refresh:
    log = SimpleNamespace(size=lambda version: (4, WHOLE))
    interval = SimpleNamespace(files=files, log=log, end=3)
    leaf: Any = SimpleNamespace(interval=interval, table=SimpleNamespace(name="t"))
    found = SimpleNamespace(
        shape=files.shape, fallbacks=[], leaves={"token": leaf}, lowered=SimpleNamespace(root=ORDERS), many=False
    )
    return refresh(asked, cast(QueryInterval, found), Costs(), followed=False)


@pytest.mark.parametrize(
    ("files", "changed"),
    [
        (FileChanges(new=(file(700),)), 700),
        (FileChanges(old=(file(300),), new=(file(700),)), 1000),
        (remarked(0, 20), 20),
        (remarked(400, 420), 20),
        (remarked(420, 400), 20),  # brought back by RESTORE
        (remarked(0, 20, rows=None), 2000),  # read whole, at both ends
        (FileChanges(old=({"path": "a"},)), 0),  # a remove that does not say how large its file was
        (FileChanges(new=(file(700),), remarked=remarked(0, 20).remarked), 720),
    ],
)
def test_of_a_file_at_both_ends_the_marked_rows_count(files: FileChanges, changed: int) -> None:
    assert chosen(files).changed == chosen(files, "incremental").changed == changed


def test_marks_in_every_file_are_few_bytes_and_an_update_of_all_rows_is_all() -> None:
    marked = remarked(0, 20).remarked * 4
    assert chosen(FileChanges(remarked=marked)) == Refresh(
        False, "1.0% of the bytes of t changed, no more than 25%", 80
    )
    updated = FileChanges(new=(file(WHOLE),), remarked=remarked(0, ROWS).remarked * 4)
    assert chosen(updated) == Refresh(True, "100.0% of the bytes of t changed, more than 25%", 2 * WHOLE)


@pytest.mark.parametrize(
    ("costs", "changed", "anew", "anew_where_followed"),
    [
        (Costs(), 100, False, False),
        (Costs(Took(60, 1000)), 30, False, False),  # nobody knows; as a guess, 24 s
        (Costs(Took(60, 1000)), 900, True, True),  # as a guess, 650 s
        (Costs(Took(1, 1000)), 250, True, False),  # much has changed; as a guess, 5.5 s: nothing is staked
        (Costs(Took(1, 1000)), 600, True, True),  # five seconds, where it is followed
        (Costs(Took(1, 1000)), 80, False, False),  # 3.5 s; but a try of so little takes no more
        (Costs(Took(60, 1000), Took(40, FEW)), FEW, False, False),
        (Costs(Took(60, 1000), Took(40, FEW)), 2 * FEW, True, True),
        (Costs(Took(60, 1000), Took(4, 100)), FEW, False, False),  # the run of 100 bytes tells no more of these
        (Costs(Took(60, 1000), Took(40, 0)), FEW, False, False),
        (Costs(Took(1, 1000), Took(9, 100)), 50, True, False),  # what it spares is not worth new ids of all rows
        (Costs(Took(600, 1000, 2), Took(625, 100)), 100, False, False),  # less than 5 %
        (Costs(Took(2, 1000, 2), Took(2.1, 100)), 100, False, False),
        (Costs(Took(4, 1000), Took(3, 100)), 100, True, False),  # a look at what ran once; it gives all rows new ids
        (Costs(Took(4, 1000, 2), Took(3, 100)), 100, False, False),  # it had its look
        (Costs(Took(10, 1000), Took(3, 100)), 100, False, False),  # more than three times as long
        (Costs(Took(13, 1000), Took(9, 100)), 100, True, False),
        (Costs(Took(15, 1000), Took(9, 100)), 100, False, False),  # more than a cold JVM may have added
        (Costs(Took(20, 1000, 2, since=10), Took(15, 100)), 100, True, False),
        (Costs(Took(60, 1000, 2, since=10), Took(45, 100)), 100, False, False),  # more than ten seconds longer
        (Costs(Took(2, 1000), Took(3, 100)), 100, False, False),  # a look at the changes, which ran once
        (Costs(Took(2, 1000), Took(3, 100, 2)), 50, True, False),
        (Costs(Took(2, 1000), Took(3, 100, 2, since=10)), 50, False, False),  # a look at what has not run for long
        (Costs(Took(4, 1000, 2, since=10), Took(3, 100)), 100, True, False),
        (Costs(Took(1.4, 1000), Took(3, 100, 2, since=10)), 50, True, False),  # more than half as long again
        (Costs(Took(2, 1000), Took(4.5, 100, 2)), 100, True, True),  # followers read a good part of so much anyway
        (Costs(Took(2, 1000), Took(3, 100, 2)), 100, True, False),  # of a small table any change is much
    ],
)
def test_anew_where_earlier_runs_say_so(costs: Costs, changed: int, anew: bool, anew_where_followed: bool) -> None:
    tables = [Changed("t", changed, 1600), Changed("u", 0, 400)]
    assert _is_anew(by_time(costs, tables, False, GROUPS)) == anew
    assert _is_anew(by_time(costs, tables, True, GROUPS)) == anew_where_followed


@pytest.mark.parametrize(
    ("took", "anew"),
    [
        (Took(3, SMALL + 1), True),  # as a guess 1.5 s; but the first build may have been slow
        (Took(5, SMALL + 1), False),
        (Took(3, SMALL + 1, 2), False),
        (Took(1.4, SMALL + 1, 2), False),  # little more than that
        (Took(1.2, SMALL + 1, 2), True),
        (Took(1.2, SMALL + 1, 9), True),
        (Took(1.2, SMALL + 1, 10), False),  # a look at what never ran
        (Took(0.9, SMALL + 1, 10), True),  # more than half as long again
        (Took(1.2, SMALL), False),  # little more than what is fixed, either way
        (Took(3, SMALL), False),
    ],
)
def test_a_guess_is_believed_of_tables_that_are_not_small(took: Took, anew: bool) -> None:
    tables = [Changed("t", 1, 2 * took.size)]
    assert _is_anew(by_time(Costs(took), tables, followed=False, assume=GROUPS)) == anew
    assert not _is_anew(by_time(Costs(took), tables, followed=True, assume=GROUPS))


@pytest.mark.parametrize(
    ("share", "size", "anew"),
    [
        (0.10, SMALL + 1, True),  # 6.3 s as a guess; followers read a good part of so much anyway
        (0.06, SMALL + 1, True),  # 4.4 s
        (0.05, SMALL + 1, False),  # 3.9 s: two seconds less are not worth new ids
        (0.10, SMALL, False),  # of a small table any change is much
    ],
)
def test_much_that_changed_is_no_reason_to_try_changes_of_a_followed_target(
    share: float, size: int, anew: bool
) -> None:
    """20.7 s where tables took 14.1: a chain, in whose first model a tenth of the orders had come, gone and been updated."""
    tables = [Changed("t", int(share * 2 * size), 2 * size)]
    assert _is_anew(by_time(Costs(Took(2, size, 2)), tables, followed=True, assume=GROUPS)) == anew


@pytest.mark.parametrize(("assume", "seconds"), [(ALONE, 1.8), (ADDED, 1.8), (GROUPS, 4.4)])
def test_a_first_rebuild_runs_again_where_a_cold_jvm_may_be_why_it_took_longer(assume: Assumed, seconds: float) -> None:
    tables = [Changed("t", 1, 4 * SMALL)]  # by changes 1.5 s, as a guess
    assert _is_anew(by_time(Costs(Took(seconds, 2 * SMALL)), tables, False, assume))
    assert by_time(Costs(Took(seconds + 0.2, 2 * SMALL)), tables, False, assume) is None


@pytest.mark.parametrize("assume", [ALONE, ADDED, GROUPS])
def test_rows_that_changed_all_over_a_table_are_guessed_to_take_longer(assume: Assumed) -> None:
    costs = Costs(Took(20, 1000))
    assert by_time(costs, [Changed("t", 80, 2000, marked=0)], False, assume) is None  # 20.7 s at most
    assert _is_anew(by_time(costs, [Changed("t", 80, 2000, marked=2000)], False, assume))  # 25.5 s at least


def test_groups_of_so_many_rows_that_they_are_shuffled_are_guessed_to_take_longer() -> None:
    costs, tables = Costs(Took(20, 1000)), [Changed("t", 80, 2000, marked=0)]
    assert by_time(costs, tables, False, GROUPS) is None
    assert _is_anew(by_time(costs, tables, False, MANY_GROUPS))


@pytest.mark.parametrize(
    ("query", "assume"),
    [
        (Join([ORDERS, Filter(ORDERS, Term("o < 3", frozenset("o")))]), ALONE),
        (Aggregate(ORDERS, [], []), GROUPS),
        (Join([ORDERS, TopK(ORDERS, [], "3", None)]), GROUPS),
    ],
)
def test_groups_that_are_read_again_are_guessed_to_take_longer(query: Operator, assume: Assumed) -> None:
    assert assumed(query, added=False, many=False) == assume
    assert assumed(query, added=False, many=True) == (MANY_GROUPS if assume == GROUPS else assume)
    assert assumed(query, added=True, many=True) == ADDED


def test_each_base_table_that_changed_is_guessed_to_take_longer() -> None:
    costs = Costs(Took(1.6, 4 * SMALL, 2))
    one, other, third = Changed("t", 1, 4 * SMALL), Changed("u", 1, 4 * SMALL), Changed("v", 0, 4 * SMALL)
    assert by_time(costs, [one, third], False, GROUPS) is None  # 1.5 s
    assert _is_anew(by_time(costs, [one, other], False, GROUPS))  # 2 s


def test_what_is_added_to_groups_is_guessed_to_take_less() -> None:
    costs, tables = Costs(Took(20, 1000)), [Changed("t", 100, 2000)]
    assert _is_anew(by_time(costs, tables, False, GROUPS))  # as a guess, 26.5 s
    assert by_time(costs, tables, False, ADDED) is None  # 14.5 s


def _is_anew(found: tuple[bool, str] | None) -> bool:
    return found is not None and found[0]


def test_the_reason_says_both_times() -> None:
    said = "by the times of earlier runs, that takes {} s, and {} s by changes{}"
    tables = [Changed("t", 100, 2000)]
    known = Costs(Took(1, 1000), Took(1.3, 100, 2))
    assert by_time(known, tables, False, GROUPS) == (True, said.format("1.0", "1.3", ""))
    assert by_time(Costs(Took(1, 1000), Took(1.3, 100)), tables, False, GROUPS) == (
        False, said.format("1.0", "1.3", ", which ran only once"),
    )  # fmt: skip
    assert by_time(Costs(Took(1.27, 1000), Took(1.3, 100, 2)), tables, False, GROUPS) == (
        True, said.format("1.3", "1.3", ", but it ran only once"),
    )  # fmt: skip


def test_either_way_is_known_by_two_runs_before_the_choice_is_for_good() -> None:
    """Of a model that takes 1.6 s anew and 2.1 s by changes, in a JVM that makes the first run of either slow."""
    costs, chosen = Costs(Took(5, 1000)), []
    for _ in range(6):
        found = by_time(costs, [Changed("t", 10, 2000)], False, GROUPS)
        anew = _is_anew(found)
        last = costs.anew if anew else costs.by_changes
        took = (1.6 if anew else 2.1) if last else 2.4
        costs = Begun(0, 1000 if anew else 10, anew, costs).ended(datetime.fromtimestamp(took, UTC))
        chosen.append("anew" if anew else "by changes")
    assert chosen == ["by changes", "anew", "by changes", "anew", "anew", "anew"]


def test_the_loser_is_looked_at_again_from_time_to_time() -> None:
    """What it took may have been of another time: each eleventh run shows, where that costs half as much again at most."""
    costs, chosen = Costs(Took(2.0, 1000, 2), Took(2.5, 100, 2)), []
    for _ in range(24):
        anew = _is_anew(by_time(costs, [Changed("t", 100, 2000)], False, GROUPS))
        took = 2.0 if anew else 2.4
        costs = Begun(0, 1000 if anew else 100, anew, costs).ended(datetime.fromtimestamp(took, UTC))
        chosen.append(anew)
    assert [number for number, anew in enumerate(chosen) if not anew] == [10, 21]


@pytest.mark.parametrize(
    ("properties", "followed"),
    [
        ({}, False),
        ({"delta.enableDeletionVectors": "true", "delta.enableRowTracking": "false"}, False),
        ({"delta.enableRowTracking": "true"}, True),
        ({"delta.deletedFileRetentionDuration": "interval 14 days"}, True),
        ({"delta.enableChangeDataFeed": "true"}, True),
    ],
)
def test_who_may_follow_a_target_is_told_by_its_properties(properties: dict[str, str], followed: bool) -> None:
    assert may_be_followed(cast(TableLog, SimpleNamespace(properties=properties))) == followed
    assert not may_be_followed(None)
