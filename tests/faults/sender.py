"""A process of its own that sends numbered rows through channels, and that is killed while it does.

Run as `python sender.py '<json of Sending>'`. Each channel sends 1, 2, 3, … up to `rows`, on from its committed token.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.ingest.channel import StreamingIngestChannel
from dbt.adapters.streamspark.ingest.client import StreamingIngestClient
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.steps import on_step
from tests.faults.harness.client import die, own_jvm
from tests.faults.shared_catalog import shared_session


@dataclass(frozen=True)
class Sending:
    """`at` is where to die when `flush` flushes are done: a step's name, `delay` (a seeded time later), `jvm` (the JVM
    alone, at a seeded time), or `` (never). `catalog` is the port of a shared catalog, where the table is then
    `landing.events`; who `creates` makes it there, and others wait for it."""

    root: str
    channels: tuple[str, ...]
    rows: int = 400
    at: str = ""
    flush: int = 0
    seed: int = 0
    catalog: int = 0
    creates: bool = False


def send(client: StreamingIngestClient, names: tuple[str, ...], rows: int, seed: int) -> None:
    """Sends what is missing, in batches of random size, channel by channel in turn."""
    dice = random.Random(seed)
    channels = client.open_channels(names)
    start = {name: int(channel.get_latest_committed_offset_token() or 0) for name, channel in channels.items()}
    while any(number < rows for number in start.values()):
        for name, channel in channels.items():
            end = min(rows, start[name] + dice.randrange(1, 20))
            _append(channel, name, start[name] + 1, end)
            start[name] = end
        if dice.random() < 0.3:
            client.wait_for_flush(120)


def _append(channel: StreamingIngestChannel, name: str, first: int, last: int) -> None:
    if first <= last:
        batch = [{"channel": name, "n": number} for number in range(first, last + 1)]
        channel.append_rows(batch, end_offset_token=str(last))


def arm(sending: Sending) -> None:
    """From the flush on that `sending` names, the step it names ends the process, or a time after it does."""
    flushes = [0]

    def reached(step: str) -> None:
        flushes[0] += step == "before_flush"
        if flushes[0] <= sending.flush:
            return
        if step == sending.at:
            die("both")
        if step == "before_flush" and sending.at in ("delay", "jvm"):
            victim = "both" if sending.at == "delay" else "jvm"
            threading.Timer(random.Random(sending.seed).uniform(0, 0.6), die, (victim,)).start()

    on_step(reached)


def landing_table(sending: Sending) -> tuple[SparkSession, str]:
    """Spark, and the name of the table under which it is found there."""
    root = Path(sending.root)
    if not sending.catalog:
        return launch.start(own_jvm(root)), f"delta.`{root / 'events'}`"
    spark = shared_session(root / "warehouse", sending.catalog)
    if sending.creates:
        spark.sql("create schema landing")
        spark.sql(f"create table landing.events using delta location '{root / 'events'}'")
        (root / "ready").touch()
    while not (root / "ready").exists():
        time.sleep(0.1)
    return spark, "landing.events"


def main(sending: Sending) -> None:
    spark, table = landing_table(sending)
    spark.sparkContext.setLogLevel("OFF")
    client = StreamingIngestClient(spark, f"sender {os.getpid()}", table, max_client_lag=0.1)
    arm(sending)
    try:
        with client:
            send(client, sending.channels, sending.rows, sending.seed)
    except StreamingIngestError as error:
        print(f"{error.error_code}: {error}")
        os._exit(3)  # the JVM may be gone, and with it what Spark would want to say at exit
    spark.stop()


if __name__ == "__main__":
    orders = json.loads(sys.argv[1])
    main(Sending(**{**orders, "channels": tuple(orders["channels"])}))
