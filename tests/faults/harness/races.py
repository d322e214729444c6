"""Processes that consume at the same time, while others change the source; and what the targets hold in the end.

Every row of the source has an id that never comes twice. A target of `append` must have each id once, in a file of the
commit whose interval the row's insert belongs to, and the intervals must follow each other.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.errors import Fenced
from tests.faults.harness.client import own_jvm
from tests.faults.harness.crash import heard
from tests.faults.harness.oracle import check_chain, same
from tests.faults.harness.shared_jvm import Address, address_of, connect, forking, session_of
from tests.faults.harness.strategies import Place, consume, stream_on
from tests.faults.harness.target_log import consumptions

MOST_SECONDS = 240
SETTLES = 20  # times that a consumer is started again, when it is told to
Report = Counter[str]


@dataclass(frozen=True)
class Race:
    """`clients` processes consume into `targets`, until these have taken so many `commits` together. With `own_jvm` the
    last client has a Spark of its own."""

    clients: int
    targets: int = 1
    strategy: str = "append"
    commits: int = 5
    own_jvm: bool = False
    seed: int = 3

    def __str__(self) -> str:
        own = ", one with a JVM of its own" if self.own_jvm else ""
        return f"{self.strategy}: {self.clients} processes, {self.targets} target{'s' * (self.targets != 1)}{own}"


RACES = [
    Race(2, own_jvm=True),
    Race(2, strategy="merge"),
    Race(4, targets=3),
    Race(8),
]


def run(base: SparkSession, race: Race, folder: Path) -> Report:
    """How many consumptions were committed, skipped, fenced; and commits of the source. Raises AssertionError."""
    spark = session_of(base)
    source = f"delta.`{folder / 'source'}`"
    spark.sql(
        f"create table {source} (id int, k int, v int) using delta tblproperties ('delta.enableRowTracking' = 'true')"
    )
    spark.sql(f"insert into {source} values (1, 1, 1), (2, 2, 2)")
    places = [_place(spark, race, source, folder, number) for number in range(race.targets)]
    with ExitStack() as stack:
        own = [race.own_jvm and number == race.clients - 1 for number in range(race.clients)]
        work = [(None if alone else address_of(base), places, folder, race.seed + n) for n, alone in enumerate(own)]
        clients = [_started(stack, _consume_on, *each) for each in work]
        writer = _started(stack, _write_on, address_of(base), source, race)
        report = _timed(clients, writer, lambda: _committed(places, folder) >= race.commits)
    for number, place in enumerate(places):
        _settle(spark, place)
        _check(spark, place, folder / f"target{number}", race)
    return report


def _place(spark: SparkSession, race: Race, source: str, folder: Path, number: int) -> Place:
    return Place(race.strategy, source, f"delta.`{folder / f'target{number}'}`", stream_on(spark, source))


def _started(stack: ExitStack, work: Any, *told: Any) -> tuple[Any, Connection]:
    context = forking()
    ours, its = context.Pipe()
    process = context.Process(target=work, args=(its, *told))
    process.start()
    its.close()
    stack.callback(ours.close)
    stack.callback(process.join)
    stack.callback(process.kill)
    return process, ours


def _committed(places: Sequence[Place], folder: Path) -> int:
    return sum(len(consumptions(folder / f"target{number}", place.consumer)) for number, place in enumerate(places))


def _timed(
    clients: Sequence[tuple[Any, Connection]], writer: tuple[Any, Connection], is_enough: Callable[[], bool]
) -> Report:
    """From when all of them are ready, until it is enough."""
    everybody = [pipe for _, pipe in (*clients, writer)]
    assert {heard(pipe) for pipe in everybody} == {"ready"}, "a process did not start"
    for pipe in everybody:
        pipe.send("go")
    deadline = time.monotonic() + MOST_SECONDS
    while not is_enough():
        failed = [pipe.recv() for pipe in everybody if pipe.poll()]
        assert not failed, failed
        assert time.monotonic() < deadline, f"not enough commits in {MOST_SECONDS} s"
        time.sleep(0.2)
    for pipe in everybody:
        pipe.send("stop")
    reports = [_report(pipe) for pipe in everybody]
    total: Report = sum(reports, Counter())
    return total


def _report(pipe: Connection) -> Report:
    assert pipe.poll(60), "a process does not end"
    said = pipe.recv()
    assert isinstance(said, Counter), said
    return said


def _consume_on(pipe: Connection, address: Address | None, places: list[Place], folder: Path, seed: int) -> None:
    """Consume into a target by chance, again and again, until told to stop."""
    own = None if address is not None else launch.start(own_jvm(folder))
    spark, dice, report = session_of(own or connect(address)), Random(seed), Counter[str]()  # type: ignore[arg-type]
    _ready(pipe)
    try:
        while not pipe.poll():
            report[_consumed(spark, dice.choice(places))] += 1
        pipe.send(report)
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")
    if own is not None:
        launch.stop(own)


def _consumed(spark: SparkSession, place: Place) -> str:
    try:
        outcome = consume(spark, place)
    except Fenced:
        return "fenced"
    if outcome is None:
        return "nothing new"
    return "skipped" if outcome.skipped else "planned again" if outcome.tries > 1 else "committed"


def _ready(pipe: Connection) -> None:
    pipe.send("ready")
    pipe.recv()


def _write_on(pipe: Connection, address: Address, source: str, race: Race) -> None:
    spark, dice, report, ids = session_of(connect(address)), Random(race.seed), Counter[str](), iter(range(3, 10**6))
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "true")
    _ready(pipe)
    try:
        while not pipe.poll():
            spark.sql(_statement(dice, source, race, ids))
            report["source"] += 1
            time.sleep(0.05)
        pipe.send(report)
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")


def _statement(dice: Random, source: str, race: Race, ids: Any) -> str:
    rows = [(i, i % 5, i) for i in (next(ids) for _ in range(dice.randrange(1, 4)))]
    insert = f"insert into {source} values {', '.join(map(str, rows))}"
    merged = (
        f"merge into {source} t using (values {', '.join(map(str, rows))} as c(id, k, v)) on t.id = c.id "
        "when matched then update set v = c.v when not matched then insert *"
    )
    upkeep = [f"optimize {source}", f"vacuum {source} retain 168 hours"]
    if race.strategy == "append":
        return dice.choice([insert, insert, merged, insert, *upkeep])
    update = f"update {source} set v = v + 1000 where k = {dice.randrange(5)}"
    delete = f"delete from {source} where id % 11 = {dice.randrange(11)}"
    return dice.choice([insert, insert, merged, update, delete, *upkeep])


def _settle(spark: SparkSession, place: Place) -> None:
    """Whatever is left is consumed."""
    for _ in range(SETTLES):
        if _consumed(spark, place) == "nothing new":
            return
    raise AssertionError(f"{place.target} is never done")


def _check(spark: SparkSession, place: Place, path: Path, race: Race) -> None:
    entries = consumptions(path, place.consumer)
    check_chain(entries)
    if race.strategy == "append":
        _in_order(spark, place, {file: entry.version for entry in entries for file in entry.files})
        _same(spark, place, "id, k, v", f"select id, k, v from {place.source}")
    else:
        _same(spark, place, "k, n, total", f"select k, count(*), sum(v) from {place.source} group by k")


def _same(spark: SparkSession, place: Place, columns: str, query: str) -> None:
    there = " where n <> 0 or total <> 0" if "total" in columns else ""
    found = spark.sql(f"select {columns} from {place.target}{there}").collect()
    same(found, spark.sql(query).collect(), str(place.strategy))


def _in_order(spark: SparkSession, place: Place, versions: dict[str, int]) -> None:
    """Ids grow with the source's versions: no commit of the target has an id below one of an earlier commit."""
    found = spark.sql(f"select id, _metadata.file_name as file from {place.target}").collect()
    ids: dict[int, list[int]] = {}
    for row in found:
        ids.setdefault(versions[row["file"]], []).append(row["id"])
    ordered = [sorted(ids[version]) for version in sorted(ids)]
    assert all(one[-1] < two[0] for one, two in pairwise(ordered)), "rows are in a later commit than their intervals"
