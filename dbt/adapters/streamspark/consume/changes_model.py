"""A `changes` model: a stream on its own query that it alone reads, beginning with its first run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery, QueryInterval
from dbt.adapters.streamspark.consume.planner import Consumer, Planner, Stream
from dbt.adapters.streamspark.errors import ConsumptionRefused
from dbt.adapters.streamspark.streams.config import StreamConfig
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.left_out import rows_at
from dbt.adapters.streamspark.streams.query_lifecycle import open_query
from dbt.adapters.streamspark.streams.stored_query import stored

OWN = "changes"  # the id of the stream in the cursor: a table holds the changes of one query
MODES = {"min_delta": "standard"}  # other formats are called as their modes


@dataclass(frozen=True)
class ChangesConfig:
    """A changes model's validated configuration (streams/config.py)."""

    format: str = "min_delta"
    initial_rows: bool = False
    mode: str = "auto"
    metadata_columns: str = "delta"
    max_data_extension_days: int = StreamConfig.max_data_extension_days
    enable_tracking: bool | None = None


@dataclass(frozen=True)
class ChangesPlan:
    """`sql` is the SELECT of the rows to write. `anew`: into a table that is made for them."""

    sql: str
    anew: bool


@dataclass(frozen=True)
class ChangesModel:
    """`consumer` is the model, and `sql` its query. `keys`, `rows` and `led_over` as in planner.Stream.
    `maintains`: the table has the query's rows (differential.py), not their changes."""

    spark: SparkSession = field(repr=False)
    planner: Planner
    consumer: Consumer
    sql: str
    config: ChangesConfig
    keys: tuple[str, ...] | None = None
    rows: Callable[[QueryInterval], DataFrame] | None = None
    led_over: Callable[[DataFrame], DataFrame] | None = None
    maintains: bool = False

    def plan(self, nothing: bool = False) -> ChangesPlan:
        """What the model writes in this run; `nothing`: no rows, and the offset stays (--empty, --sample).

        Raises InvalidQuery, UnsupportedQuery, ConsumptionRefused for a table that somebody else made, and what
        planning a stream raises.
        """
        if self.is_first():
            first = replace(self, consumer=replace(self.consumer, rebuild=True))
            return ChangesPlan(first._rows(nothing), anew=True)
        return ChangesPlan(self._rows(nothing), anew=self.consumer.rebuild)

    @cached_property
    def query(self) -> ChangeQuery:
        """Raises InvalidQuery, UnsupportedQuery, InvalidStreamConfig, ConsumptionRefused where it reads the table."""
        config = StreamConfig(
            enable_tracking=self.config.enable_tracking, max_data_extension_days=self.config.max_data_extension_days
        )
        own = self.planner.target(self.spark, self.consumer)
        return open_query(self.spark, self.consumer.target, self.sql, config, own)

    def is_first(self) -> bool:
        """The table holds nothing yet, as after --empty."""
        cursor = self.planner.cursor(self.spark, self.consumer)
        if self.consumer.rebuild or (OWN in cursor.frontiers and (cursor.made is not None) == self.maintains):
            return False
        log = self.planner.target(self.spark, self.consumer)
        if log is not None and rows_at(log, log.version) != 0:
            what = "is kept equal to its query" if self.maintains else "holds the changes of its query"
            raise ConsumptionRefused(
                f"table {self.consumer.target} is there, but it is none that {self.consumer.name} has made and that "
                f"{what}. Give the model another name, or make the table anew with --full-refresh."
            )
        return True

    def _rows(self, nothing: bool) -> str:
        stream = self._stream()
        if nothing:
            self.planner.read_nothing(self.spark, self.consumer)
            return f"select * from {self.planner.no_rows(self.spark, stream)} where false"
        return f"select * from {self.planner.read(self.spark, self.consumer, stream)}"

    def _stream(self) -> Stream:
        return Stream(self.consumer.target, self._definition(), self.keys, self.rows, self.led_over, self.query)

    def _definition(self) -> StreamDefinition:
        return StreamDefinition(
            query=stored(self.query),
            start=self.query.at(self.planner.pinned(self.consumer.invocation, self.query.logs)),
            mode=MODES.get(self.config.format, self.config.format),
            show_initial_rows=self.config.initial_rows,
            metadata_columns=self.config.metadata_columns,
            id=OWN,
            on_query=True,
            strict=self.config.mode == "strict",
        )
