"""A source, a stream on it and a consumer, all in the catalog, by the real planner and readers, without dbt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.commit import commit
from dbt.adapters.streamspark.consume.cursor import Cursor, resolve_cursor
from dbt.adapters.streamspark.consume.planner import Consumer, Planner, Stream
from dbt.adapters.streamspark.consume.target import open_target
from dbt.adapters.streamspark.literals import literal
from dbt.adapters.streamspark.streams.catalog import find_stream
from dbt.adapters.streamspark.streams.config import StreamConfig
from dbt.adapters.streamspark.streams.lifecycle import StreamModel
from tests.consuming import make_source, rows

CONSUMER = "streamspark/model.t.faulty"
READ = "select id, v from {} where _change_type = 'insert'"


@dataclass
class World:
    """A source with rows 1 and 2, a stream on it that shows them, and a consumer that has consumed them."""

    spark: SparkSession
    name: str
    consumer: str = CONSUMER
    source: str = field(init=False)
    target: str = field(init=False)
    stream: str = field(init=False)

    def __post_init__(self) -> None:
        self.source, self.target, self.stream = (
            f"default.{self.name}_{part}" for part in ("source", "target", "stream")
        )

    def make(self) -> World:
        make_source(self.spark, self.source)
        self.make_stream()
        self.consume()
        return self

    def make_stream(self) -> None:
        config = StreamConfig(show_initial_rows=True, max_data_extension_days=0)
        change = StreamModel(self.spark, self.stream, f"select * from {self.source}", config).decide(None, False)
        pairs = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in change.properties.items())
        self.spark.sql(f"create or replace view {self.stream} tblproperties ({pairs}) as {change.sql}")

    def consume(self, columns: str = "id, v") -> None:
        """A run: append what came, or make the target. Nothing, where there is nothing."""
        planner, there = Planner(), self.spark.catalog.tableExists(self.target)
        consumer = Consumer(self.consumer, self.target, uuid4().hex, is_table=there)
        sql = planner.read(self.spark, consumer, Stream(self.stream, find_stream(self.spark, self.stream)))
        plan = planner.plan(consumer.name, consumer.invocation)
        assert plan is not None
        verb = f"insert into {self.target}" if there else f"create table {self.target} using delta as"
        if not plan.consumption.is_empty:
            text = f"{verb} {READ.replace('id, v', columns).format(sql)}"
            commit(self.spark, plan.consumption, [text], lambda: planner.plan_again(self.spark, plan).consumption)

    def add(self, *ids: int) -> None:
        for number in ids:
            self.spark.sql(f"insert into {self.source} values ({number}, 'r{number}')")

    def cursor(self) -> Cursor:
        return resolve_cursor(open_target(self.spark, self.target), self.consumer)

    def ids(self) -> list[int]:
        return [row[0] for row in rows(self.spark, self.target)]

    def path(self, table: str, *parts: str) -> Path:
        return Path(TableLog(self.spark, table).path.removeprefix("file:")).joinpath(*parts)

    def commit_file(self, table: str, version: int, kind: str = "json") -> Path:
        return self.path(table, "_delta_log", f"{version:020d}.{kind}")

    def forget(self) -> None:
        """Delta looks at the files again."""
        self.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]

    @contextmanager
    def nothing_moves(self) -> Iterator[None]:
        """What fails inside leaves rows, offset and files as they were, and after it consuming is right."""
        before = (self.cursor(), self.ids())
        yield
        assert (self.cursor(), self.ids()) == before
