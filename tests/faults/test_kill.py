"""A consumer process is killed before, during and right after its commit; another finishes: exactly once.

Seeded: STREAMSPARK_SEED replays a run. Each case starts one process of its own, whose JVM dies with it; every strategy at
every step, by processes that share a JVM, is in test_crashes.py.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume import user_metadata
from tests.consuming import APPEND, CREATE, Model, make_source, newest, rows

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from consumer import Orders, consume, model_of  # noqa: E402

SEED = int(os.environ.get("STREAMSPARK_SEED", "3"))
CASES = [
    ("append", "writing"),
    ("append", "delay"),
    ("merge", "committed"),
    ("create", "after_dml"),
]


def start(orders: Orders, output: Path) -> subprocess.Popen[bytes]:
    """The consumer in a process group of its own, which it takes with it when it dies."""
    with output.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, str(HERE / "consumer.py"), json.dumps(asdict(orders))],
            env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
            start_new_session=True,
            stdout=file,
            stderr=subprocess.STDOUT,
        )


def check_chain(model: Model) -> None:
    """Every consumption in the target's log begins where the one before it ended, and counts on by one."""
    log = TableLog(model.spark, model.target)
    commits = [log.commit(version) for version in range(log.version + 1)]
    bodies = [
        json.loads(c.info["userMetadata"])["streamspark"] for c in commits if user_metadata.read(c, model.consumer)
    ]
    assert [body["n"] for body in bodies] == list(range(1, len(bodies) + 1))
    streams = [body["streams"]["s"] for body in bodies]
    assert streams[0]["from"] is None
    assert [s["from"]["tables"] for s in streams[1:]] == [s["to"]["tables"] for s in streams[:-1]]


def held(model: Model, kind: str) -> list[Any]:
    """What the target holds; made anew by each consumption, its versions together hold everything."""
    if kind != "create":
        return model.rows()
    versions = range(newest(model.spark, model.target) + 1)
    pasts = [model.spark.sql(f"select * from {model.target} version as of {v}").collect() for v in versions]
    return sorted(tuple(row) for past in pasts for row in past)


@pytest.mark.parametrize(("kind", "at"), CASES)
def test_killed_consumer(spark: SparkSession, tmp_path: Path, kind: str, at: str) -> None:
    model = model_of(spark.newSession(), tmp_path)
    make_source(model.spark, model.sources["s"])
    seed = SEED + CASES.index((kind, at))
    kill_round = random.Random(seed).randrange(1, 4)
    orders = Orders(str(tmp_path), kind, at, kill_round, rounds=kill_round + 3, seed=seed)
    process = start(orders, tmp_path / "output")
    assert process.wait(timeout=180) == -signal.SIGKILL, (tmp_path / "output").read_text()[-2000:]
    done = (tmp_path / "committed").read_text().count("\n") if (tmp_path / "committed").exists() else 0
    assert done >= kill_round - 1, f"replay with STREAMSPARK_SEED={SEED}"
    check_after_kill(model, kind, at, committed_before=kill_round - 1)


def check_after_kill(model: Model, kind: str, at: str, committed_before: int) -> None:
    """The killed round is in the target or it is not; whoever comes next does what is left, once."""
    before = model.cursor().n
    if at != "delay":
        assert before == committed_before + (at in ("committed", "after_dml"))
    consume(model, kind)
    assert held(model, kind) == rows(model.spark, model.sources["s"]), f"replay with STREAMSPARK_SEED={SEED}"
    assert consume(model, kind) is None
    check_chain(model)


def test_killed_between_the_commit_and_the_catalog(spark: SparkSession, tmp_path: Path) -> None:
    """CREATE TABLE AS commits in the table's directory first and then tells the catalog. A process that died
    between the two leaves a directory that no table has; the next run finds its own consumption in there."""
    session = spark.newSession()
    session.sql("create schema if not exists faults_catalog")
    model = Model(session, "faults_catalog.target", {"s": make_source(session, "faults_catalog.source")})
    model.run(CREATE)
    path = Path(TableLog(session, model.target).path.removeprefix("file:"))
    shutil.copytree(path, tmp_path / "copy")
    session.sql(f"drop table {model.target}")
    shutil.copytree(tmp_path / "copy", path)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]
    outcome = model.run(CREATE)
    assert Counter(model.rows()) == Counter([(1, "a"), (2, "b")])
    assert outcome.skipped
    session.sql(f"insert into {model.sources['s']} values (3, 'c')")
    model.run(APPEND)
    assert model.rows() == [(1, "a"), (2, "b"), (3, "c")]
    session.sql("drop schema faults_catalog cascade")
