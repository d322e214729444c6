"""Two processes consume one stream into one target at the same time: no row lost, none doubled."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.errors import Fenced
from tests.consuming import Model, make_source, newest, rows

sys.path.insert(0, str(Path(__file__).parent))
from consumer import Orders, consume, model_of
from test_kill import check_chain, start

ENOUGH = 6
MOST_SECONDS = 150


def other_committed(root: Path) -> int:
    file = root / "committed"
    return file.read_text().count("\n") if file.exists() else 0


@contextmanager
def growing(spark: SparkSession, source: str) -> Iterator[None]:
    """The source gets a commit of three rows again and again, so that the two processes plan different ends."""
    stop = threading.Event()

    def grow() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            spark.sql(f"insert into {source} select id, 'r' || id from range({number * 10}, {number * 10 + 3})")

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def compete(model: Model, root: Path) -> int:
    """Consume until both processes have committed often enough; the commits of this one."""
    won, deadline = 0, time.monotonic() + MOST_SECONDS
    while (won < ENOUGH or other_committed(root) < ENOUGH) and time.monotonic() < deadline:
        try:
            outcome = consume(model, "append")
        except Fenced:  # nothing is wrong with that: the other process has it
            continue
        won += outcome is not None and not outcome.skipped
    return won


def test_two_processes_on_one_target(spark: SparkSession, tmp_path: Path) -> None:
    """This process and another one consume a source that grows meanwhile."""
    model = model_of(spark.newSession(), tmp_path)
    source = make_source(model.spark, model.sources["s"])
    consume(model, "append")
    process = start(Orders(str(tmp_path), "append", rounds=100_000, changes=False), tmp_path / "output")
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "ready").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        with growing(spark.newSession(), source):
            won = compete(model, tmp_path)
        (tmp_path / "stop").touch()
        assert process.wait(timeout=60) == 0, (tmp_path / "output").read_text()[-2000:]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    won += consume(model, "append") is not None
    doubled = {row: count for row, count in Counter(model.rows()).items() if count > 1}
    assert doubled == {}
    assert model.rows() == rows(model.spark, source)
    check_chain(model)
    assert won and other_committed(tmp_path), "both processes took part"
    assert newest(model.spark, model.target) == won + other_committed(tmp_path), "one commit each"
