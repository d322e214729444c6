"""What all parts of the lowering share: names, functions, tables, and Spark's opinion of a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.query.aggregates import Functions
from dbt.adapters.streamspark.changes.query.algebra import CLOCK, Operator
from dbt.adapters.streamspark.changes.query.base_tables import BaseTable
from dbt.adapters.streamspark.changes.query.not_covered import Node
from dbt.adapters.streamspark.changes.query.scope import Column, Names


@dataclass(frozen=True)
class Relation:
    """A lowered query: its operator, and its columns as (name that the query gives, ours)."""

    node: Operator
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Cte:
    """A query of a WITH, and the ones before it that it may name."""

    query: Node
    columns: tuple[str, ...]
    known: Ctes


@dataclass(frozen=True)
class Ctes:
    """The queries of the WITHs around, by name in lower case."""

    by_name: Mapping[str, Cte] = field(default_factory=dict)

    def plus(self, name: str, cte: Cte) -> Ctes:
        return Ctes({**self.by_name, name.lower(): cte})


@dataclass
class Lowering:
    """One query's lowering. `tables` maps token to base table, `schemas` token to the table's columns; `queries`
    lowers a query inside the query."""

    spark: SparkSession
    tables: Mapping[str, BaseTable]
    schemas: Mapping[str, StructType]
    queries: Callable[[Lowering, Node, Ctes, bool], Relation]
    names: Names = field(default_factory=Names)

    def __post_init__(self) -> None:
        self.functions = Functions(self.spark)

    def lower(self, query: Node, ctes: Ctes, inside: bool = False) -> Relation:
        """A query inside the query; `inside`: where columns of the query around may be named in it."""
        return self.queries(self, query, ctes, inside)

    def schema_of(self, sql: str) -> StructType | None:
        """The columns of a query over tokens, None when Spark does not accept it. The tokens are views by now."""
        try:
            return self.spark.sql(sql.replace(CLOCK, "current_timestamp()")).schema
        except AnalysisException:
            return None
