"""A differential model: a target that each run brings to what its query gives now."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.consume.apply_changes import ApplyChanges
from dbt.adapters.streamspark.consume.changes_model import OWN, ChangesConfig, ChangesModel
from dbt.adapters.streamspark.consume.columns import columns_of
from dbt.adapters.streamspark.consume.planner import Consumer, Planner
from dbt.adapters.streamspark.consume.refresh import Refresh, refresh
from dbt.adapters.streamspark.streams.stored_query import normal, reopened, version_in

ROW_ID = "__row_id"
_METADATA = DIALECTS["delta"].names


@dataclass(frozen=True)
class DifferentialConfig:
    """A differential model's validated configuration (streams/config.py). Without a `unique_key` the target has a
    column more, ROW_ID, by which its rows are told apart."""

    unique_key: tuple[str, ...] = ()
    refresh: str = "auto"
    max_data_extension_days: int = 0
    enable_tracking: bool | None = None


@dataclass(frozen=True)
class DifferentialPlan:
    """`sql` is the SELECT of all rows where `anew`, else of change rows, which `keys` match with the target's."""

    sql: str
    keys: tuple[str, ...]
    anew: bool
    reason: str


@dataclass(frozen=True)
class DifferentialModel:
    """`consumer` is the model, and `sql` its query."""

    spark: SparkSession = field(repr=False)
    planner: Planner
    consumer: Consumer
    sql: str
    config: DifferentialConfig

    def plan(self, nothing: bool = False) -> DifferentialPlan:
        """What the model writes in this run; `nothing`: no rows, and the offset stays (--empty, --sample).

        Raises what a changes model's plan raises, and UnsupportedQuery for refresh `strict`.
        """
        model = self._changes(self.consumer)
        if nothing or self.consumer.rebuild or model.is_first():
            return self._planned(model, "first run", nothing)
        chosen = self._refresh(model)
        if chosen.anew:
            model = self._changes(replace(self.consumer, rebuild=True))
        return self._planned(model, chosen.reason)

    def _changes(self, consumer: Consumer) -> ChangesModel:
        config = ChangesConfig(
            initial_rows=True,
            max_data_extension_days=self.config.max_data_extension_days,
            enable_tracking=self.config.enable_tracking,
        )
        return ChangesModel(self.spark, self.planner, consumer, self.sql, config)

    def _refresh(self, model: ChangesModel) -> Refresh:
        cursor = self.planner.cursor(self.spark, self.consumer)
        since = cursor.frontiers[OWN]
        before = reopened(self.spark, self.consumer.target, cursor.queries[OWN], since)
        if normal(before) != normal(model.query):
            return Refresh(True, "its query is another one now")
        interval = before.interval(before.frontier(since), before.at(self._end(model, since)))
        return refresh(self.config.refresh, interval)

    def _end(self, model: ChangesModel, since: Frontier) -> dict[str, int]:
        """What this invocation reads, but never less than was read."""
        pinned = self.planner.pinned(self.consumer.invocation, model.query.logs)
        return {log.path: max(pinned[log.path], version_in(log, since) or 0) for log in model.query.logs}

    def _planned(self, model: ChangesModel, reason: str, nothing: bool = False) -> DifferentialPlan:
        plan = model.plan(nothing)
        keys = self.config.unique_key or (ROW_ID,)
        rows = f"({plan.sql})" if self.config.unique_key else f"(select *, `_row_id` as {ROW_ID} from ({plan.sql}))"
        if not plan.anew:
            return DifferentialPlan(f"select * from {rows}", keys, False, reason)
        return DifferentialPlan(self._all_of(rows), keys, True, reason)

    def _all_of(self, rows: str) -> str:
        """The SELECT of a new target's rows. Ids are unique; that keys are has to be seen."""
        if not self.config.unique_key:
            return f"select * except ({', '.join(_METADATA)}) from {rows}"
        columns = columns_of(self.spark.sql(f"select * from {rows}").schema)
        return ApplyChanges(self.consumer.name, rows, columns, self.config.unique_key).upserts()
