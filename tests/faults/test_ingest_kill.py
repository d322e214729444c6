"""A sender is killed before, during and after the commit of a flush, or its JVM is: who goes on from the committed
tokens has every row in the table once, in order per channel.

Seeded: STREAMSPARK_SEED replays a run, STREAMSPARK_EXAMPLES sets how many seeds of each kind are tried, and
STREAMSPARK_WRITERS how many processes write at once.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.ingest.client import StreamingIngestClient
from dbt.adapters.streamspark.ingest.commit_channels import flush_of
from tests.faults.harness.client import SHORT_RUN
from tests.faults.sender import Sending, send
from tests.faults.shared_catalog import derby_server

HERE = Path(__file__).parent

SEED = int(os.environ.get("STREAMSPARK_SEED", "3"))
EXAMPLES = int(os.environ.get("STREAMSPARK_EXAMPLES", "1"))
WRITERS = int(os.environ.get("STREAMSPARK_WRITERS", "2"))
CHANNELS = ("a", "b", "c")
ROWS = 400
KINDS = ("before_commit", "after_commit", "delay", "jvm")


def start(sending: Sending, output: Path) -> subprocess.Popen[bytes]:
    with output.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, str(HERE / "sender.py"), json.dumps(asdict(sending))],
            env={**os.environ, "PYTHONPATH": str(HERE.parents[1]), "JDK_JAVA_OPTIONS": f"{SHORT_RUN} -XX:+UseSerialGC"},
            start_new_session=True,
            stdout=file,
            stderr=subprocess.STDOUT,
        )


def make_table(spark: SparkSession, root: Path) -> str:
    table = f"delta.`{root / 'events'}`"
    properties = "tblproperties ('delta.enableRowTracking' = 'true')"
    spark.sql(f"create table {table} (channel string, n int) using delta {properties}")
    return table


def landed(spark: SparkSession, table: str, channel: str) -> list[int]:
    rows = spark.sql(f"select n from {table} where channel = '{channel}' order by _metadata.row_id").collect()
    return [row[0] for row in rows]


@dataclass(frozen=True)
class Killed:
    """A sender that has ended, and what it said."""

    folder: Path
    flush: int
    code: int
    said: str


@pytest.fixture(scope="module")
def senders(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[tuple[str, int], Future[Killed]]]:
    """(at, seed) -> the sender of each test that was asked for. Two run while others are looked at: half of a sender's
    time goes to waiting."""
    asked = [item.callspec.params for item in request.session.items if item.name.startswith("test_killed_sender")]
    pool, started = ThreadPoolExecutor(2), {}
    for at, seed in ((one["at"], one["seed"]) for one in asked):
        folder = tmp_path_factory.mktemp(at)
        make_table(spark.newSession(), folder)
        started[at, seed] = pool.submit(run_sender, folder, at, seed)
    yield started
    pool.shutdown(cancel_futures=True)


def run_sender(folder: Path, at: str, seed: int) -> Killed:
    flush = random.Random(f"{at} {seed}").randrange(1, 4)
    process = start(Sending(str(folder), CHANNELS, ROWS, at=at, flush=flush, seed=seed), folder / "output")
    return Killed(folder, flush, process.wait(timeout=300), (folder / "output").read_text()[-2000:])


@pytest.mark.parametrize("seed", range(SEED, SEED + EXAMPLES))
@pytest.mark.parametrize("at", KINDS)
def test_killed_sender(spark: SparkSession, senders: dict[tuple[str, int], Future[Killed]], at: str, seed: int) -> None:
    session, killed = spark.newSession(), senders[at, seed].result()
    table = f"delta.`{killed.folder / 'events'}`"
    assert killed.code == (3 if at == "jvm" else -signal.SIGKILL), killed.said
    assert at != "jvm" or "WriterFailed" in killed.said, killed.said
    check_tokens(session, table)
    if at in ("before_commit", "after_commit"):
        assert flushes(session, table) == killed.flush + (at == "after_commit")
    with StreamingIngestClient(session, "heir", table) as client:
        send(client, CHANNELS, ROWS, seed)
    for channel in CHANNELS:
        assert landed(session, table, channel) == list(range(1, ROWS + 1)), f"replay with STREAMSPARK_SEED={seed}"


def check_tokens(session: SparkSession, table: str) -> None:
    """Of each channel the table holds just the rows up to its token."""
    with StreamingIngestClient(session, "reader", table) as client:
        tokens = client.get_latest_committed_offset_tokens(CHANNELS)
    for channel, token in tokens.items():
        assert landed(session, table, channel) == list(range(1, int(token or 0) + 1))


def flushes(session: SparkSession, table: str) -> int:
    log = TableLog(session, table)
    return sum(bool(flush_of(log.commit(version).info)) for version in range(log.version + 1))


def test_processes_write_one_table(spark: SparkSession, tmp_path: Path) -> None:
    """Each with a Spark of its own, which finds the table in a catalog that they share."""
    session = spark.newSession()
    table = make_table(session, tmp_path)
    names = [(f"w{number}x", f"w{number}y") for number in range(WRITERS)]
    with derby_server(session, tmp_path) as port:
        run_all(
            [
                Sending(str(tmp_path), pair, rows=80, seed=number, catalog=port, creates=number == 0)
                for number, pair in enumerate(names)
            ],
            tmp_path,
        )
    for channel in (name for pair in names for name in pair):
        assert landed(session, table, channel) == list(range(1, 81))


def run_all(sendings: Sequence[Sending], folder: Path) -> None:
    """All at once, to their ends."""
    outputs = [folder / f"output{number}" for number in range(len(sendings))]
    processes = [start(sending, output) for sending, output in zip(sendings, outputs, strict=True)]
    try:
        for process, output in zip(processes, outputs, strict=True):
            assert process.wait(timeout=300) == 0, output.read_text()[-2000:]
    finally:
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
