"""A process of its own that changes a source and consumes it, and that is killed while it does.

Run as `python consumer.py '<json of Orders>'`. It kills its whole process group, the JVM included, so it must be
started in a new one. It ends by itself after `rounds`, or when the file `stop` is there.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.commit import Outcome
from dbt.adapters.streamspark.errors import Fenced
from dbt.adapters.streamspark.steps import on_step
from tests.consuming import APPEND, CREATE, MERGE, Model, newest

STATEMENTS = {"append": APPEND, "merge": MERGE, "create": CREATE}


@dataclass(frozen=True)
class Orders:
    """`at` is where to die in round `kill_round`: a step's name, `writing` (a data file is there, the commit is
    not), `committed` (the commit file is there), `delay` (seeded time after the write began), or `` (never)."""

    root: str
    kind: str
    at: str = ""
    kill_round: int = 0
    rounds: int = 1
    seed: int = 0
    changes: bool = True


def model_of(spark: SparkSession, root: Path) -> Model:
    return Model(spark, f"delta.`{root / 'target'}`", {"s": f"delta.`{root / 'source'}`"})


def change(spark: SparkSession, source: str, kind: str, seed: int) -> None:
    """One commit of the source; ids never come twice. Only the MERGE can follow updates and deletes."""
    start = 10 * newest(spark, source)
    dice = random.Random(seed)
    other = f"update {source} set v = concat(v, '+') where id % 3 = {dice.randrange(3)}"
    delete = f"delete from {source} where id % 7 = {dice.randrange(7)}"
    insert = f"insert into {source} select id, 'r' || id from range({start}, {start + dice.randrange(1, 5)})"
    spark.sql(dice.choice([insert, insert, other, delete]) if kind == "merge" else insert)


def consume(model: Model, kind: str) -> Outcome | None:
    """One consumption, of everything there is; None when that is nothing."""
    plan = model.plan()
    if plan.is_empty:
        return None
    return model.run(CREATE if plan.seen is None else STATEMENTS[kind], plan)


def die() -> None:
    os.killpg(0, signal.SIGKILL)


def die_when(condition: str, target: Path, seed: int) -> None:
    """From a thread of its own, while the write runs."""
    files, commits = count(target, "*.parquet"), count(target, "_delta_log/*.json")
    delay = time.monotonic() + random.Random(seed).uniform(0.05, 2)

    def watch() -> None:
        while True:
            reached = {
                "writing": count(target, "*.parquet") > files,
                "committed": count(target, "_delta_log/*.json") > commits,
                "delay": time.monotonic() > delay,
            }
            if reached[condition]:
                die()
            time.sleep(0.001)

    threading.Thread(target=watch, daemon=True).start()


def count(path: Path, pattern: str) -> int:
    return sum(1 for _ in path.glob(pattern))


def arm(orders: Orders) -> None:
    def reached(step: str) -> None:
        if step == orders.at:
            die()
        if step == "before_dml" and orders.at in ("writing", "committed", "delay"):
            die_when(orders.at, Path(orders.root) / "target", orders.seed)

    on_step(reached)


def start_spark(scratch: Path) -> SparkSession:
    confs = {
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": str(scratch),
        "spark.sql.shuffle.partitions": "1",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.driver.host": "127.0.0.1",
    }
    builder = SparkSession.builder
    for key, value in confs.items():
        builder = builder.config(key, value)
    return configure_spark_with_delta_pip(builder).getOrCreate()


def main(orders: Orders) -> None:
    root = Path(orders.root)
    spark = start_spark(root / "warehouse")
    spark.sparkContext.setLogLevel("OFF")
    model = model_of(spark, root)
    (root / "ready").touch()
    for number in range(1, orders.rounds + 1):
        if (root / "stop").exists():
            break
        if orders.changes:
            change(spark, model.sources["s"], orders.kind, orders.seed + number)
        if number == orders.kill_round:
            arm(orders)
        try:
            outcome = consume(model, orders.kind)
        except Fenced:  # the other process was first each time; the next round goes on
            continue
        if outcome is not None and outcome.version is not None:
            with (root / "committed").open("a") as file:
                file.write(f"{outcome.version} {outcome.tries}\n")
    spark.stop()


if __name__ == "__main__":
    main(Orders(**json.loads(sys.argv[1])))
