"""Two processes consume one stream into one target at the same time: no row lost, none doubled."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.errors import Fenced
from tests.consuming import make_source, newest

sys.path.insert(0, str(Path(__file__).parent))
from consumer import Orders, consume, model_of
from test_kill import check_chain, start

ROUNDS = 12
MOST_ROUNDS = 40


def other_committed(root: Path) -> int:
    file = root / "committed"
    return len(file.read_text().split("\n")) - 1 if file.exists() else 0


def test_two_processes_on_one_target(spark: SparkSession, tmp_path: Path) -> None:
    """This process appends to the source and consumes, the other one consumes; both win some commits."""
    model = model_of(spark.newSession(), tmp_path)
    source = make_source(model.spark, model.sources["s"])
    consume(model, "append")
    process = start(Orders(str(tmp_path), "append", rounds=100_000, changes=False), tmp_path / "output")
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "ready").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        won = 0
        for number in range(1, MOST_ROUNDS + 1):
            model.spark.sql(f"insert into {source} select id, 'r' || id from range({number * 10}, {number * 10 + 3})")
            try:
                outcome = consume(model, "append")
            except Fenced:  # nothing is wrong with that: the other process has it
                continue
            won += outcome is not None and not outcome.skipped
            if number >= ROUNDS and won and other_committed(tmp_path):
                break
        (tmp_path / "stop").touch()
        assert process.wait(timeout=60) == 0, (tmp_path / "output").read_text()[-2000:]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    last = consume(model, "append")
    won += last is not None
    expected = Counter(row.id for row in model.spark.table(source).collect())
    assert Counter(row[0] for row in model.rows()) == expected
    assert set(expected.values()) == {1}
    check_chain(model)
    assert won and other_committed(tmp_path), "both processes took part"
    assert newest(model.spark, model.target) == won + other_committed(tmp_path), "one commit each"
