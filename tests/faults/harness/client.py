"""A process that consumes, and that is killed while it does.

Most use the JVM that is there, which goes on after them: a statement that they sent may commit when they are dead.
Others start their own, which is killed with them, or alone.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.errors import Fenced
from dbt.adapters.streamspark.launch import LaunchOptions
from dbt.adapters.streamspark.steps import on_step
from tests.faults.harness.protocol_faults import applied
from tests.faults.harness.shared_jvm import PLAIN, Address, connect, session_of
from tests.faults.harness.strategies import Place, consume

MEANWHILE = ("writing", "committed", "delay")
SHORT_RUN = "-XX:TieredStopAtLevel=1"  # for a JVM that lives for seconds


@dataclass(frozen=True)
class Orders:
    """`at` is where to die: a step's name, `writing` (a data file is there, the commit is not), `committed` (the
    commit file is there), `delay` (seeded, after the write began), or "" (never). `pause`: the step at which to say so
    and wait for a word. `path` is the target's directory. `address` None: with a JVM of its own, whose scratch is beside
    `path`; `victim` is then what dies, the process with its JVM (`both`) or the `jvm`. `fault` is one of ours
    (protocol_faults.py)."""

    address: Address | None
    place: Place
    path: Path
    at: str = ""
    pause: str = ""
    seed: int = 0
    fault: str = ""
    victim: str = "both"


def main(orders: Orders, pipe: Connection) -> None:
    """Says by `pipe` how it ended, if it does: done, or fenced."""
    os.setpgid(0, 0)
    with applied(orders.fault):
        spark = _session(orders)
        on_step(lambda step: _reached(step, orders, pipe))
        try:
            consume(spark, orders.place)
            pipe.send("done")
        except Fenced:
            pipe.send("fenced")
    if orders.address is None:
        launch.stop(spark)


def own_jvm(folder: Path) -> LaunchOptions:
    """For tables by their path: no catalog, which takes a while to start."""
    config = {"spark.sql.catalogImplementation": "in-memory", "spark.driver.extraJavaOptions": SHORT_RUN, **PLAIN}
    return LaunchOptions(folder / "own_jvm", "local[1]", "1g", spark_config=config)


def _session(orders: Orders) -> SparkSession:
    if orders.address is not None:
        return session_of(connect(orders.address))
    return launch.start(own_jvm(orders.path.parent))


def _reached(step: str, orders: Orders, pipe: Connection) -> None:
    if step == orders.pause:
        pipe.send("paused")
        pipe.recv()
    if step == orders.at:
        die(orders.victim)
    if step == "before_dml" and orders.at in MEANWHILE:
        _die_when(orders)


def die(victim: str) -> None:
    """This process with its JVM (`both`), or the `jvm` alone."""
    if victim == "jvm":
        gateway = SparkContext._gateway
        os.kill(gateway.proc.pid, signal.SIGKILL)
    else:
        os.killpg(0, signal.SIGKILL)


def _die_when(orders: Orders) -> None:
    """From a thread of its own, while the write runs."""
    files, commits = _count(orders.path, "*.parquet"), _count(orders.path, "_delta_log/*.json")
    delay = time.monotonic() + random.Random(orders.seed).uniform(0, 0.6)

    def watch() -> None:
        while True:
            reached = {
                "writing": lambda: _count(orders.path, "*.parquet") > files,
                "committed": lambda: _count(orders.path, "_delta_log/*.json") > commits,
                "delay": lambda: time.monotonic() > delay,
            }
            if reached[orders.at]():
                return die(orders.victim)
            time.sleep(0.001)

    threading.Thread(target=watch, daemon=True).start()


def _count(path: Path, pattern: str) -> int:
    """Of the target's own files, in partitions too."""
    return sum(1 for _ in path.glob(pattern)) + sum(1 for _ in path.glob(f"k=*/{pattern}"))
