"""A process is killed with its JVM, or the JVM alone, in the middle of a commit; another one finishes: exactly once.

Those who share a JVM that goes on are in test_crashes.py. STREAMSPARK_SEED replays a run.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.faults.harness.client import Orders
from tests.faults.harness.crash import client, heard
from tests.faults.harness.oracle import check
from tests.faults.harness.shared_jvm import session_of
from tests.faults.harness.source import Source
from tests.faults.harness.strategies import INSERTS_ONLY, Place, consume, stream_on

pytestmark = pytest.mark.skipif("STREAMSPARK_UNRUN" not in os.environ, reason="written, but never run yet")

SEED = int(os.environ.get("STREAMSPARK_SEED", "3"))


@pytest.mark.parametrize(
    ("strategy", "victim", "at"),
    [("append", "both", "writing"), ("merge", "jvm", "writing"), ("table", "jvm", "after_dml")],
)
def test_a_jvm_is_killed(spark: SparkSession, tmp_path: Path, strategy: str, victim: str, at: str) -> None:
    """A process whose JVM is gone ends by itself, with an error."""
    session = session_of(spark)
    source = Source(session, f"delta.`{tmp_path / 'source'}`", Random(SEED), strategy in INSERTS_ONLY)
    source.create()
    place = Place(strategy, source.name, f"delta.`{tmp_path / 'target'}`", stream_on(session, source.name))
    consume(session, place)
    source.change()
    with client(Orders(None, place, tmp_path / "target", at, victim=victim)) as (process, pipe):
        assert heard(pipe) == "dead"
    assert process.exitcode == (-signal.SIGKILL if victim == "both" else 1)
    consume(session, place)
    check(session, place, tmp_path / "target", source)
    assert strategy == "table" or consume(session, place) is None
