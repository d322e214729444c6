"""A small model for the tests of `consume`: it reads streams with the real readers and commits into a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.read import plan_shape, read_interval
from dbt.adapters.streamspark.consume.commit import Outcome, commit
from dbt.adapters.streamspark.consume.confs import APP_ID, TXN_VERSION, USER_METADATA
from dbt.adapters.streamspark.consume.consumption import Consumption, StreamRead
from dbt.adapters.streamspark.consume.cursor import Cursor, resolve_cursor
from dbt.adapters.streamspark.consume.target import open_target

CREATE = "create or replace table {target} using delta as select id, v from {s} where _change_type = 'insert'"
APPEND = "insert into {target} select id, v from {s} where _change_type = 'insert'"
MERGE = """
    merge into {target} t
    using (select * from {s} where _change_type <> 'update_preimage') c on t.id = c.id
    when matched and c._change_type = 'delete' then delete
    when matched then update set v = c.v
    when not matched and c._change_type <> 'delete' then insert (id, v) values (c.id, c.v)"""


FIRST = [(1, "a"), (2, "b")]  # what a source is made with
CONFS = (APP_ID, TXN_VERSION, USER_METADATA)


def frontier(log: TableLog) -> Frontier:
    return Frontier.of(TableVersion(log.table_id, log.name, log.version, log.commit(log.version).identity))


def make_source(spark: SparkSession, name: str, rows: str = "values (1, 'a'), (2, 'b')") -> str:
    """A row-tracked Delta table of (id int, v string)."""
    spark.sql(f"create table {name} (id int, v string) using delta tblproperties ('delta.enableRowTracking' = 'true')")
    spark.sql(f"insert into {name} {rows}")
    return name


@dataclass
class Model:
    """`sources` maps stream name (also its id) to table; the statements name a stream's changes as {name}."""

    spark: SparkSession
    target: str
    sources: Mapping[str, str]
    consumer: str = "streamspark/model.t.m"
    from_cursor: bool = True
    planned: list[Consumption] = field(default_factory=list)

    def cursor(self) -> Cursor:
        return resolve_cursor(open_target(self.spark, self.target), self.consumer)

    def plan(self) -> Consumption:
        cursor = self.cursor()
        reads = tuple(self._read(stream, cursor.frontiers.get(stream)) for stream in self.sources)
        kept = {key: value for key, value in cursor.frontiers.items() if key not in self.sources}
        plan = Consumption(
            self.consumer,
            self.target,
            cursor.n + 1,
            "invocation",
            reads,
            kept,
            rebuild=not self.from_cursor,
            seen=cursor.seen,
        )
        self.planned.append(plan)
        return plan

    def _read(self, stream: str, start: Frontier | None) -> StreamRead:
        log = TableLog(self.spark, self.sources[stream])
        start = start if self.from_cursor else None
        since = None if start is None else start[log.table_id]
        view = f"changes_{uuid4().hex}"
        read_interval(self.spark, log, since, log.version).dataframe.createOrReplaceTempView(view)
        empty = since is not None and plan_shape(log, since, log.version) == "EMPTY"
        return StreamRead(stream, stream, start, frontier(log), view, empty)

    def run(self, statement: str, plan: Consumption | None = None, **options: Any) -> Outcome:
        """Plan (unless a plan is given) and commit one statement."""
        plan = plan or self.plan()
        names = {read.stream: read.sql for read in plan.reads}
        return commit(self.spark, plan, [statement.format(target=self.target, **names)], self.plan, **options)

    def rows(self) -> list[tuple[Any, ...]]:
        return rows(self.spark, self.target)


def add(model: Model, row_id: int) -> None:
    """One more row of the source."""
    model.spark.sql(f"insert into {model.sources['s']} values ({row_id}, 'r{row_id}')")


def rival(model: Model) -> Model:
    """The same consumer in another run."""
    return Model(model.spark.newSession(), model.target, model.sources, model.consumer)


def confs(spark: SparkSession) -> list[str | None]:
    return [spark.conf.get(key, None) for key in CONFS]


def rows(spark: SparkSession, table: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in spark.table(table).collect())


def newest(spark: SparkSession, table: str) -> int:
    return TableLog(spark, table).version


def path_table(path: Path, name: str) -> str:
    return f"delta.`{path / name}`"


def clean_log(spark: SparkSession, table: str, before: int) -> None:
    """What Delta's log cleanup does: a checkpoint, then the commit files older than `before` go."""
    log = TableLog(spark, table)
    log.java.checkpoint()
    for version in range(before):
        for kind in ("json", "crc"):
            (Path(log.path.removeprefix("file:")) / "_delta_log" / f"{version:020d}.{kind}").unlink(missing_ok=True)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
