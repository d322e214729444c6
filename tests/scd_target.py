"""Targets of apply_changes with an order, and when the commits of their sources were made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.changes_applied import changes_applied
from dbt.adapters.streamspark.consume.columns import columns_of
from dbt.adapters.streamspark.consume.confs import consumption_confs
from dbt.adapters.streamspark.consume.consumption import Consumption, StreamRead
from dbt.adapters.streamspark.consume.merge import Merge
from dbt.adapters.streamspark.consume.merge_by_position import merge_by_position
from dbt.adapters.streamspark.consume.scd_config import ScdConfig

MAPPED = "tblproperties ('delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true')"
PLAIN = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}
LONG_WAY = "this is not the usual case"
METADATA = "_change_type string, _commit_version bigint, _commit_timestamp timestamp, _row_id string"
BEGIN = datetime(2026, 1, 1)


def moment(version: int, lag: float = 0) -> datetime:
    return BEGIN + timedelta(seconds=version - lag)


def session_of(spark: SparkSession) -> SparkSession:
    """Little data and large plans: to generate code for them would take most of the time."""
    made = spark.newSession()
    for key, value in PLAIN.items():
        made.conf.set(key, value)
    return made


@dataclass
class Target:
    """A table and the temporary view that the changes come in. `simply`: what has come is taken for the usual case where
    it is one (newer_versions.py), by position; `simple` times it was."""

    spark: SparkSession
    config: ScdConfig
    table: str = field(default_factory=lambda: f"scd.t{uuid4().hex}")
    view: str = field(default_factory=lambda: f"changes_{uuid4().hex}")
    made: bool = False
    simply: bool = False
    simple: int = 0
    one_stream: bool = True

    def apply(self, rows: Sequence[tuple[Any, ...]], schema: str) -> None:
        """One run of the model over these change rows."""
        self.spark.createDataFrame(list(rows), schema).createOrReplaceTempView(self.view)
        columns = columns_of(self.spark.table(self.view).schema)
        sql = changes_applied("model.t.m", self.view, columns, self.config, self.one_stream)
        if self.made:
            merge = sql.merge(self.table, list(columns_of(self.spark.table(self.table).schema)))
            if not self._is_simple(merge):
                self.spark.sql(merge.sql())
        else:
            self.spark.sql("create schema if not exists scd")
            self.spark.sql(f"create table {self.table} using delta {MAPPED} as {sql.upserts()}")
            self.made = True

    def _is_simple(self, merge: Merge) -> bool:
        """Whether it was the usual case, and is committed."""
        if not self.simply or merge.simpler is None:
            return False
        consumption = self._consumption(replace(merge, source=f"(select raise_error('{LONG_WAY}'))"))
        try:
            with consumption_confs(self.spark, consumption):
                assert merge_by_position(self.spark, consumption) is not None
        except (PySparkException, Py4JError) as error:
            assert LONG_WAY in str(error)
            return False
        self.simple += 1
        return True

    def _consumption(self, merge: Merge) -> Consumption:
        read, version = StreamRead("s", "s", None, Frontier.of(), self.view), TableLog(self.spark, self.table).version
        return Consumption("model.t.m", self.table, self.simple + 1, "invocation", (read,), merge=merge, seen=version)

    def rows(self, columns: str = "*") -> list[tuple[Any, ...]]:
        found = self.spark.sql(f"select {columns} from {self.table}").collect()
        return by_text(tuple(row) for row in found)


def by_text(rows: Iterator[tuple[Any, ...]] | Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=repr)
