"""A process is killed with its JVM, or the JVM alone, in the middle of a commit; another one finishes: exactly once.

Those who share a JVM that goes on are in test_crashes.py. STREAMSPARK_SEED replays a run. Each strategy loses its JVM once, each
at another step; with STREAMSPARK_JVM_KILLS=all every strategy at every step, alone and with its process (an hour).
"""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from tests.consuming import APPEND, CREATE, Model, make_source
from tests.faults.harness.client import MEANWHILE, Orders
from tests.faults.harness.crash import STEPS, client, heard
from tests.faults.harness.oracle import check
from tests.faults.harness.shared_jvm import session_of
from tests.faults.harness.source import Source
from tests.faults.harness.strategies import INSERTS_ONLY, STRATEGIES, Place, consume, stream_on

SEED = int(os.environ.get("STREAMSPARK_SEED", "3"))


ALL = os.environ.get("STREAMSPARK_JVM_KILLS") == "all"
NEEDING = STEPS[: STEPS.index("done")]  # after the last step nothing is asked of the JVM any more


def kills() -> Iterator[tuple[str, str, str]]:
    if ALL:
        yield from product(STRATEGIES, ("both", "jvm"), NEEDING)
        return
    yield "append", "both", "writing"
    for place, strategy in enumerate(STRATEGIES):
        yield strategy, "jvm", NEEDING[(place + 4) % len(NEEDING)]


@pytest.mark.parametrize(("strategy", "victim", "at"), kills())
def test_a_jvm_is_killed(spark: SparkSession, tmp_path: Path, strategy: str, victim: str, at: str) -> None:
    """A process whose JVM is gone ends by itself, with an error."""
    session = session_of(spark)
    source = Source(session, f"delta.`{tmp_path / 'source'}`", Random(SEED), strategy in INSERTS_ONLY)
    source.create()
    place = Place(strategy, source.name, f"delta.`{tmp_path / 'target'}`", stream_on(session, source.name))
    consume(session, place)
    source.change()
    with client(Orders(None, place, tmp_path / "target", at, victim=victim)) as (process, pipe):
        said = heard(pipe)
    assert said == "dead" or at in MEANWHILE, said
    assert process.exitcode == (0 if said == "done" else -signal.SIGKILL if victim == "both" else 1)
    consume(session, place)
    check(session, place, tmp_path / "target", source)
    assert strategy == "table" or consume(session, place) is None


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
