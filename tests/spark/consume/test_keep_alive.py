"""An idle consumer's offset is written again before the logs that it needs are cleaned."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.keep_alive import keep_alive
from dbt.adapters.streamspark.errors import Fenced
from dbt.adapters.streamspark.operate.project import Project
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.stream_has_data import stream_has_data
from tests.consuming import APPEND, FIRST, Model, add, clean_log, newest, path_table
from tests.spark.consume.world import World

DAY = 24 * 3600


def age(model: Model, version: int, days: float) -> None:
    """Make a commit of the target look that old; its time is its file's."""
    path = Path(model.target[len("delta.`") : -1]) / "_delta_log" / f"{version:020d}.json"
    then = time.time() - days * DAY
    os.utime(path, (then, then))


def test_a_young_cursor_writes_nothing(model: Model) -> None:
    assert keep_alive(model.spark, model.plan()).skipped
    age(model, 0, days=3)
    assert keep_alive(model.spark, model.plan()).skipped
    assert newest(model.spark, model.target) == 0


def test_an_old_cursor_is_written_again_with_the_newest_frontier(model: Model) -> None:
    model.spark.sql(f"alter table {model.sources['s']} set tblproperties ('a' = 'b')")
    age(model, 0, days=4)  # half of the 7 days that the source keeps removed files
    plan = model.plan()
    assert plan.is_empty
    outcome = keep_alive(model.spark, plan)
    assert (outcome.skipped, outcome.version, newest(model.spark, model.target)) == (False, 1, 1)
    commit = TableLog(model.spark, model.target).commit(1)
    assert (commit.adds, commit.removes, commit.txns) == ([], [], {model.consumer: 2})
    cursor = model.cursor()
    assert (cursor.n, cursor.version) == (2, 1)
    assert cursor.frontiers["s"].tables[0].version == newest(model.spark, model.sources["s"]) > 1
    assert model.rows() == FIRST
    clean_log(model.spark, model.target, before=1)
    add(model, 3)
    model.run(APPEND)
    assert model.rows() == [*FIRST, (3, "r3")]


def test_longer_retention_lets_the_cursor_grow_older(model: Model) -> None:
    source = model.sources["s"]
    model.spark.sql(
        f"alter table {source} set tblproperties ('delta.deletedFileRetentionDuration' = 'interval 20 days')"
    )
    age(model, 0, days=9)
    assert keep_alive(model.spark, model.plan()).skipped
    age(model, 0, days=11)
    assert not keep_alive(model.spark, model.plan()).skipped


def test_a_short_log_retention_of_the_target_counts(model: Model) -> None:
    age(model, 0, days=1.5)
    assert keep_alive(model.spark, model.plan()).skipped
    properties = (
        "('delta.deletedFileRetentionDuration' = 'interval 1 day', 'delta.logRetentionDuration' = 'interval 2 days')"
    )
    model.spark.sql(f"alter table {model.target} set tblproperties {properties}")
    assert not keep_alive(model.spark, model.plan()).skipped


def test_changes_waiting_are_left_to_be_consumed(model: Model) -> None:
    add(model, 3)
    age(model, 0, days=5)
    assert keep_alive(model.spark, model.plan()).skipped
    model.run(APPEND)
    assert model.rows() == [*FIRST, (3, "r3")]


def test_no_target_is_left_alone(model: Model, tmp_path: Path) -> None:
    other = Model(model.spark, path_table(tmp_path, "none"), {})
    assert keep_alive(model.spark, other.plan()).skipped


def test_a_clones_cursor_is_written_into_the_clone_itself(model: Model, tmp_path: Path) -> None:
    clone = Model(model.spark, path_table(tmp_path, "clone"), model.sources)
    model.spark.sql(f"create table {clone.target} shallow clone {model.target}")
    assert clone.cursor().version is None
    assert not keep_alive(model.spark, clone.plan()).skipped
    assert (clone.cursor().version, clone.cursor().n) == (1, 2)


def test_a_plan_that_was_overtaken_is_not_written(model: Model) -> None:
    age(model, 0, days=5)
    plan = model.plan()
    add(model, 3)
    model.run(APPEND)
    assert keep_alive(model.spark, plan).skipped
    assert newest(model.spark, model.target) == 1


def test_an_append_only_table_can_be_kept_alive(model: Model) -> None:
    model.spark.sql(f"alter table {model.target} set tblproperties ('delta.appendOnly' = 'true')")
    age(model, 0, days=5)
    assert not keep_alive(model.spark, model.plan()).skipped


def test_an_offset_that_goes_back_meanwhile_is_not_written_again(model: Model) -> None:
    """As an operation plans it: its rows stand nowhere, so that no statement tells that they are others now."""
    add(model, 3)
    model.run(APPEND)
    age(model, 1, days=4)
    plan = model.plan()
    plan = replace(plan, reads=tuple(replace(read, sql="") for read in plan.reads))
    model.spark.sql(f"restore table {model.target} to version as of 0")
    age(model, 0, days=4)
    with pytest.raises(Fenced, match="was restored or replaced meanwhile"):
        keep_alive(model.spark, plan)
    model.run(APPEND)
    assert model.rows() == [*FIRST, (3, "r3")]


def test_asking_whether_there_is_something_renews_an_old_offset(world: World) -> None:
    """The operation stream_has_data."""
    scope = Scope(world.spark, Project("default", ()))
    assert stream_has_data(scope, world.stream).failure.endswith("has no data")
    assert newest(world.spark, world.target) == 0
    then = time.time() - 20 * DAY
    os.utime(world.commit_file(world.target, 0), (then, then))
    assert stream_has_data(scope, world.stream, invocation="asked").failure.endswith("has no data")
    assert newest(world.spark, world.target) == 1
    assert (world.cursor().n, world.cursor().version, world.ids()) == (2, 1, [1, 2])
    world.add(3)
    assert stream_has_data(Scope(world.spark, Project("default", ())), world.stream).failure == ""
    world.consume()
    assert world.ids() == [1, 2, 3]
