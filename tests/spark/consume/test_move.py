"""A cursor moved by hand: rows stay, runs planned before are turned away, and a move that comes too late is not made."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.move import ADVANCE, REWIND, move
from dbt.adapters.streamspark.consume.user_metadata import read
from dbt.adapters.streamspark.errors import Fenced
from tests.consuming import APPEND, CONFS, FIRST, Model, add, confs, frontier, newest


def moved(model: Model, points: Mapping[str, Frontier]) -> Consumption:
    cursor = model.cursor()
    return Consumption(model.consumer, model.target, cursor.n + 1, "by hand", (), points, seen=cursor.seen)


def test_what_is_read_after_a_rewind_is_the_same(model: Model) -> None:
    before = model.cursor()
    add(model, 3)
    model.run(APPEND)
    outcome = move(model.spark, moved(model, before.frontiers), REWIND)
    assert (model.rows(), outcome.consumption.n) == ([*FIRST, (3, "r3")], 3)
    log = TableLog(model.spark, model.target)
    commit = log.commit(log.version)
    assert (commit.adds, commit.removes, commit.txns) == ([], [], {model.consumer: 3})
    found = read(commit, model.consumer)
    assert found is not None and (found.action, found.invocation) == ("rewind", "by hand")
    assert model.cursor().frontiers == before.frontiers
    assert confs(model.spark) == [None] * len(CONFS)
    model.run(APPEND)
    assert model.rows() == [*FIRST, (3, "r3"), (3, "r3")]


def test_a_run_that_was_planned_before_plans_again(model: Model) -> None:
    add(model, 3)
    plan = model.plan()
    now = frontier(TableLog(model.spark, model.sources["s"]))
    move(model.spark, moved(model, {"s": now}), ADVANCE)
    assert model.run(APPEND, plan).skipped
    assert model.rows() == FIRST


def test_a_move_that_a_run_came_before_is_not_made(model: Model) -> None:
    late = moved(model, model.cursor().frontiers)
    add(model, 3)
    model.run(APPEND)
    version = newest(model.spark, model.target)
    with pytest.raises(Fenced, match="meanwhile, so its offset was not moved"):
        move(model.spark, late, REWIND)
    assert newest(model.spark, model.target) == version
