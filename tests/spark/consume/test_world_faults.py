"""Faults of the world: each is a clear error or a right result, with nothing half-done and no offset moved. The others of
docs/reference/faults.md are tested where that page says."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import BrokenSource, InvalidStreamConfig, StaleSource, StreamsparkError
from tests.spark.consume.world import World


@contextmanager
def files_of_at_most(spark: SparkSession, size: int) -> Iterator[None]:
    """The kernel refuses whatever Spark's process writes beyond `size` bytes of a file, as a full disk does."""
    pid = int(spark._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_full(world: World) -> None:
    world.spark.sql(f"insert into {world.source} select id, sha2(uuid(), 512) from range(3, 3003)")
    files = world.commit_file(world.target, 1)
    with world.nothing_moves():
        with (
            files_of_at_most(world.spark, 100_000),
            pytest.raises((PySparkException, Py4JError), match="File too large"),
        ):
            world.consume()
        assert not files.exists()
    world.consume()
    assert world.ids() == [*range(1, 3003)]


def check_damaged(world: World, file: Path, damage: Callable[[Path], Any], said: str) -> None:
    """Consuming is an error that says so, until the file is back."""
    kept = file.read_bytes()
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    damage(file)
    world.forget()
    with world.nothing_moves(), pytest.raises((StreamsparkError, PySparkException, Py4JError), match=said):
        world.consume()
    file.write_bytes(kept)
    world.forget()
    world.consume()


def test_a_commit_file_that_is_cut_off(world: World) -> None:
    world.add(3, 4)
    said = rf"{world.source}: the commit file of version 2 .* is damaged"
    check_damaged(
        world, world.commit_file(world.source, 2), lambda file: file.write_bytes(file.read_bytes()[:-40]), said
    )
    assert world.ids() == [1, 2, 3, 4]


def test_a_commit_file_that_is_gone(world: World) -> None:
    world.add(3, 4)
    said = r"Versions \(0, 1, 3\) are not contiguous"
    check_damaged(world, world.commit_file(world.source, 2), Path.unlink, said)
    assert world.ids() == [1, 2, 3, 4]


def test_a_checkpoint_that_is_damaged(world: World) -> None:
    """Changes are read from the commits, and what a table is from the checksum beside the newest one."""
    world.add(3, 4)
    TableLog(world.spark, world.source).java.checkpoint()
    (checkpoint,) = world.path(world.source, "_delta_log").glob("*.checkpoint*.parquet")
    world.add(5)
    world.commit_file(world.source, 0).unlink()
    checkpoint.with_name(f".{checkpoint.name}.crc").unlink(missing_ok=True)
    checkpoint.write_bytes(b"PAR1 nothing PAR1")
    world.forget()
    world.consume()
    assert world.ids() == [1, 2, 3, 4, 5]


def test_clocks_that_go_back(world: World) -> None:
    world.add(3, 4, 5)
    for version, time in ((2, 2_000_000_000), (3, 1_500_000_000), (4, 1_600_000_000)):
        os.utime(world.commit_file(world.source, version), (time, time))
    world.forget()
    world.consume()
    assert world.ids() == [1, 2, 3, 4, 5]
    os.utime(world.commit_file(world.target, 1), (1_000_000_000, 1_000_000_000))
    world.forget()
    world.add(6)
    world.consume()
    assert (world.cursor().n, world.ids()) == (3, [1, 2, 3, 4, 5, 6])


def test_a_target_that_is_dropped_begins_anew(world: World) -> None:
    world.add(3)
    world.consume()
    world.spark.sql(f"drop table {world.target}")
    world.consume()
    assert (world.cursor().n, world.ids()) == (1, [1, 2, 3])


def test_a_source_that_is_dropped(world: World) -> None:
    world.spark.sql(f"drop table {world.source}")
    with world.nothing_moves(), pytest.raises(BrokenSource, match=r"does not exist any more"):
        world.consume()


def test_a_view_that_somebody_altered_reads_as_before(world: World) -> None:
    """What a stream is, is in its properties; its text is for those who select from it."""
    world.spark.sql(f"alter view {world.stream} as select 1 as nothing")
    world.add(3)
    world.consume()
    assert world.ids() == [1, 2, 3]


def test_a_view_that_somebody_replaced_is_no_stream(world: World) -> None:
    world.add(3)
    world.spark.sql(f"create or replace view {world.stream} as select * from {world.source}")
    with world.nothing_moves(), pytest.raises(InvalidStreamConfig, match="is no stream"):
        world.consume()


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        ("unset tblproperties ('streamspark.definition')", "is damaged"),
        ("set tblproperties ('streamspark.definition' = '{nothing')", "is damaged"),
        ("set tblproperties ('streamspark.definition' = '[]')", "is damaged"),
        ("set tblproperties ('streamspark.definition' = '{\"v\": 99}')", "later release"),
    ],
)
def test_properties_that_somebody_damaged(world: World, alter: str, said: str) -> None:
    world.add(3)
    world.spark.sql(f"alter view {world.stream} {alter}")
    with world.nothing_moves(), pytest.raises(BrokenSource, match=said):
        world.consume()


def test_two_projects_with_one_stream(world: World) -> None:
    other = World(world.spark, world.name, consumer="streamspark/model.another.faulty")
    other.target = f"{world.target}_too"
    try:
        other.consume()
        world.add(3)
        world.consume()
        world.add(4)
        other.consume()
        world.consume()
        assert world.ids() == other.ids() == [1, 2, 3, 4]
        assert (world.cursor().n, other.cursor().n) == (3, 2)
    finally:
        world.spark.sql(f"drop table if exists {other.target}")


def test_a_source_that_is_vacuumed_past_the_cursor(world: World) -> None:
    world.add(3)
    world.spark.sql(f"delete from {world.source} where id = 1")
    world.spark.sql(f"optimize {world.source}")
    for file in world.path(world.source).glob("*.parquet"):
        if file.name not in "".join(world.spark.table(world.source).inputFiles()):
            file.unlink()
    world.forget()
    with world.nothing_moves(), pytest.raises(StaleSource, match=world.source):
        world.consume()
