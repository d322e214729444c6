"""Tables whose past is kept: the rows at each marked point, as plain local tables that owe the log nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, Row, SparkSession

from tests.consuming import newest

TRACKED = "using delta tblproperties ('delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = '{vectors}')"
# Planning is all that a query over a few rows costs: nothing is compiled for it.
FAST = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
}
# Spark 4.2 gives wrong rows for some unions of what windows made (docs/reference/errors.md).
ORACLE = {**FAST, "spark.sql.unionOutputPartitioning": "false"}

Point = Mapping[str, int]


def session_with(spark: SparkSession, confs: Mapping[str, str], schema: str) -> SparkSession:
    session = spark.newSession()
    for name, value in confs.items():
        session.conf.set(name, value)
    session.sql(f"use {schema}")
    return session


@dataclass
class History:
    """A schema of Delta tables. `mark()` remembers a point: its version of every table, and a session in which the
    tables' names mean their rows at that point, so that any query can be asked there as it is written."""

    spark: SparkSession
    schema: str
    confs: Mapping[str, str] = field(default_factory=lambda: FAST)
    tables: list[str] = field(default_factory=list)
    views: dict[str, str] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)
    pasts: list[SparkSession] = field(default_factory=list)
    answers: dict[tuple[str, int], list[Row]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.spark.sql(f"drop schema if exists {self.schema} cascade")
        self.spark.sql(f"create schema {self.schema}")
        self.session = session_with(self.spark, self.confs, self.schema)

    def drop(self) -> None:
        self.spark.sql(f"drop schema if exists {self.schema} cascade")

    def run(self, *statements: str) -> None:
        for statement in statements:
            self.session.sql(statement).collect()

    def table(self, name: str, columns: str, vectors: bool = True) -> None:
        self.run(f"create table {name} ({columns}) {TRACKED.format(vectors=str(vectors).lower())}")
        self.tables.append(name)

    def view(self, name: str, query: str, columns: str = "") -> None:
        """A view in the catalog, and in every past that is marked from now on. Views are made before the first mark."""
        assert not self.points
        self.run(f"create view {name} {columns} as {query}")
        self.views[f"{name} {columns}"] = query

    def version(self, name: str) -> int:
        return newest(self.session, f"{self.schema}.{name}")

    def mark(self) -> int:
        """The number of the point."""
        point = {f"{self.schema}.{name}": self.version(name) for name in self.tables}
        past = session_with(self.spark, ORACLE, self.schema)
        for name in self.tables:
            copied(past, past.table(f"{self.schema}.{name}")).createOrReplaceTempView(name)
        for name, query in self.views.items():
            past.sql(f"create temporary view {name} as {query}")
        self.points.append(point)
        self.pasts.append(past)
        return len(self.points) - 1

    def at(self, query: str, point: int) -> list[Row]:
        """The query's own answer at a point, with no help from the log; asked for once."""
        if (query, point) not in self.answers:
            self.answers[query, point] = self.pasts[point].sql(query).collect()
        return self.answers[query, point]

    def marked(self, *rounds: Sequence[str]) -> History:
        """A point now, and one after each round of statements."""
        if not self.points:
            self.mark()
        for statements in rounds:
            self.run(*statements)
            self.mark()
        return self


def copied(session: SparkSession, frame: DataFrame) -> DataFrame:
    """The rows as they are now, held by the driver."""
    return session.createDataFrame(frame.toArrow(), schema=frame.schema)
