"""A differential model: a target that each run brings to what its query gives now."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.differentiate.additive import ROWS, Additive, additive
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.group_changes import group_changes
from dbt.adapters.streamspark.consume.additive_merge import additive_merge
from dbt.adapters.streamspark.consume.changes_model import OWN, ChangesConfig, ChangesModel
from dbt.adapters.streamspark.consume.columns import Column, columns_of
from dbt.adapters.streamspark.consume.costs import Begun
from dbt.adapters.streamspark.consume.cursor import Cursor
from dbt.adapters.streamspark.consume.empty_texts import without_empty_texts
from dbt.adapters.streamspark.consume.final_rows import FinalRows, final_rows
from dbt.adapters.streamspark.consume.keyed_changes import ROW_ID, KeyedChanges
from dbt.adapters.streamspark.consume.made import Made, other_columns, other_settings
from dbt.adapters.streamspark.consume.planner import Consumer, Plan, Planner
from dbt.adapters.streamspark.consume.rebound import rebound
from dbt.adapters.streamspark.consume.redefinition import FINAL, KEY, QUERY, Redefinition
from dbt.adapters.streamspark.consume.refresh import Refresh, refresh
from dbt.adapters.streamspark.consume.replacement import Replacement
from dbt.adapters.streamspark.consume.target import may_be_followed
from dbt.adapters.streamspark.errors import BrokenSource, StaleSource
from dbt.adapters.streamspark.streams.stored_query import normal, reopened, stored, version_in


@dataclass(frozen=True)
class DifferentialConfig:
    """A differential model's validated configuration (streams/config.py). Without a `unique_key` the target has a
    column more, ROW_ID, by which its rows are told apart. Rows for which `immutable_where` holds are final.
    `on_configuration_change` is for another query, key or predicate, `on_schema_change` for other columns."""

    unique_key: tuple[str, ...] = ()
    refresh: str = "auto"
    immutable_where: str = ""
    on_configuration_change: str = "apply"
    on_schema_change: str = "ignore"
    partition_by: tuple[str, ...] = ()
    max_data_extension_days: int = ChangesConfig.max_data_extension_days
    enable_tracking: bool | None = None


@dataclass(frozen=True)
class DifferentialPlan:
    """`sql` is the SELECT of all rows where `anew`, else of the `changes`, or of what is added to the target's groups,
    where they are `additive`; `within` (SQL, may be empty) is where in the target they are. `appended`: all are new.
    `unchecked` is `sql` without a look at the keys, where `anew`."""

    sql: str
    changes: KeyedChanges
    anew: bool
    reason: str
    within: str = ""
    additive: Additive | None = None
    final: FinalRows | None = None
    appended: bool = False
    unchecked: str = ""

    @property
    def replacement(self) -> Replacement:
        """All rows of a target that stays what it is but for them."""
        return Replacement(self.unchecked, () if self.additive is not None else self.changes.unique_key)

    def write(self, planned: Plan, rows: str, columns: Sequence[Column], target: str, its: Sequence[Column]) -> str:
        """The statement that brings the relation `rows`, which has the rows of `sql` and these columns, into `target`
        with `its`: a MERGE, whose parts go with what is `planned`; or an INSERT, which reads no file of the target,
        where it can match nothing."""
        spared = self.final.spared if self.final is not None else lambda row: ""
        if self.appended:
            return self.changes.append(rows, columns, target, its, spared)
        if self.additive is not None:
            planned.merge = additive_merge(self.additive, target, rows, self.within, spared)
        else:
            planned.merge = self.changes.merge(rows, columns, target, its, self.within, spared)
        return planned.merge.sql()

    def all_but(self, final: FinalRows, spark: SparkSession, target: str, other_ids: bool) -> DifferentialPlan:
        """The same of a target made anew whose final rows stay; with ids that no other row has, where new rows may have
        theirs (`other_ids`)."""
        columns, its = spark.sql(self.sql).columns, spark.table(target).columns
        keys = self.additive.keys if self.additive is not None else self.changes.keys
        if other_ids and ROW_ID in its and ROW_ID in keys:
            target = f"(select * except ({ROW_ID}), concat('final:', {ROW_ID}) as {ROW_ID} from {target})"
        return replace(self, sql=final.kept(self.sql, target, columns, its, keys))


@dataclass(frozen=True)
class DifferentialModel:
    """`consumer` is the model, and `sql` its query; `query` is what it follows, where that is open already."""

    spark: SparkSession = field(repr=False)
    planner: Planner
    consumer: Consumer
    sql: str
    config: DifferentialConfig
    query: ChangeQuery | None = None

    def plan(self, nothing: bool = False) -> DifferentialPlan:
        """What the model writes in this run; `nothing`: no rows, and the offset stays (--empty, --sample).

        Raises what a changes model's plan raises, UnsupportedQuery for refresh `strict`, and ConsumptionRefused for
        another definition or other columns, where they are to fail. BrokenSource and StaleSource where changes cannot
        be told any more only if the target may not be made anew.
        """
        at, model = time.time(), self._model()
        if nothing or self.consumer.rebuild or model.is_first():
            added = self._additive(model, self._final(model))
            reason = "nothing is read (--empty or --sample)" if nothing else "first run"
            return self._noted(model, self._planned(model, added, reason, nothing), at)
        try:
            return self._later(model, at)
        except (BrokenSource, StaleSource) as error:
            if self.config.refresh in ("incremental", "strict"):
                raise
            why = f"its changes cannot be told any more: {str(error).partition('. ')[0]}"
            return self._made_anew(model, why, at, other_ids=True)

    def _later(self, model: ChangesModel, at: float) -> DifferentialPlan:
        """Of a target that is there."""
        found = self._redefinition(model)
        found.check_parts(self.config.on_configuration_change)
        if found.parts and self.config.on_configuration_change == "continue":
            return self._unchanged(found)
        found.check_columns(self.config.on_schema_change)
        return self._redefined(model, found, at) if found else self._refreshed(model, at)

    def _redefined(self, model: ChangesModel, found: Redefinition, at: float) -> DifferentialPlan:
        """The target is brought to another definition: made anew, or given what the two differ in."""
        if self._leads_over(found, self._additive(model, self._final(model))):
            return self._led_over(model, found.reason, at)
        return self._made_anew(model, found.reason, at, other_ids=QUERY in found.parts or bool(found.settings))

    def _made_anew(self, model: ChangesModel, reason: str, at: float, other_ids: bool) -> DifferentialPlan:
        """By the statement that makes the table, which may have other columns then. `other_ids`: those of the query's
        rows have nothing in common with what they were."""
        final = self._final(model)
        planned = self._anew(model, self._additive(model, final), final, reason, other_ids)
        return self._noted(model, planned, at)

    def _refreshed(self, model: ChangesModel, at: float) -> DifferentialPlan:
        """The target of the same definition: by its changes, or anew in its place."""
        final = self._final(model)
        added = self._additive(model, final)
        chosen = self._refresh(model, added is not None)
        if chosen.anew:
            planned = self._anew(model, added, final, chosen.reason)
            return self._noted(model, planned, at, in_place=final is None)
        planned = self._planned(model, added if self._has(added) else None, chosen.reason)
        return self._noted(model, replace(planned, final=final), at, chosen.changed)

    def _noted(
        self, model: ChangesModel, planned: DifferentialPlan, at: float, size: int | None = None, in_place: bool = False
    ) -> DifferentialPlan:
        """What tells the run's cost when it is committed goes with it. `size`: of changes; None for the whole.
        `in_place`: all rows are made anew, but not the table."""
        plan = self.planner.plan(self.consumer.name, self.consumer.invocation)
        if plan is not None and not plan.reads_nothing:
            whole = model.query.bytes_at(plan.reads[OWN].end) if size is None else size
            plan.begun = Begun(at, whole, planned.anew, plan.cursor.costs)
            plan.made = self._made(model)
            plan.replacement = planned.replacement if in_place else None
        return planned

    def _anew(
        self, model: ChangesModel, added: Additive | None, final: FinalRows | None, reason: str, other_ids: bool = False
    ) -> DifferentialPlan:
        """Of a target that is there."""
        rebuilt = _but(model, consumer=replace(self.consumer, rebuild=True))
        planned = self._planned(rebuilt, added, reason)
        return planned if final is None else planned.all_but(final, self.spark, self.consumer.target, other_ids)

    def _model(self) -> ChangesModel:
        config = ChangesConfig(
            initial_rows=True,
            max_data_extension_days=self.config.max_data_extension_days,
            enable_tracking=self.config.enable_tracking,
        )
        model = ChangesModel(
            self.spark, self.planner, self.consumer, self.sql, config, self.config.unique_key, maintains=True
        )
        return model if self.query is None else _but(model, self.query)

    def _final(self, model: ChangesModel) -> FinalRows | None:
        """What was final when the target was brought to where it is; at the first run nothing was."""
        if not self.config.immutable_where:
            return None
        cursor, now = self.planner.cursor(self.spark, self.consumer), self._newest(model)
        columns = model.query.interval(None, now).lowered.schema.names
        return final_rows(self.spark, self.config.immutable_where, columns, cursor.frontiers.get(OWN, now).timestamp)

    def _newest(self, model: ChangesModel) -> Frontier:
        return model.query.at(self.planner.pinned(self.consumer.invocation, model.query.logs))

    def _additive(self, model: ChangesModel, final: FinalRows | None) -> Additive | None:
        """How the query's groups add up, where they are what the rows are matched by: a group is final or it is not."""
        if not self.config.unique_key:
            return None
        found = additive(model.query.interval(None, self._newest(model)).lowered)
        keys = {key.lower() for key in self.config.unique_key}
        whole = found is not None and keys == {key.lower() for key in found.keys}
        return found if whole and (final is None or final.columns <= keys) else None

    def _has(self, added: Additive | None) -> bool:
        """Whether the target keeps what its groups need to be added to."""
        return added is not None and set(self.spark.table(self.consumer.target).columns) >= set(added.hidden)

    def _redefinition(self, model: ChangesModel) -> Redefinition:
        cursor = self.planner.cursor(self.spark, self.consumer)
        before, now = cursor.made, self._made(model)
        assert before is not None  # or it would be the first run
        parts = [QUERY] if self._is_another(model.query, cursor) else []
        if before.keys != now.keys:
            parts.append(KEY)
        if before.final and before.final != now.final:
            parts.append(FINAL)
        return Redefinition(self.consumer.target, tuple(parts), other_columns(before, now), other_settings(before, now))

    def _is_another(self, query: ChangeQuery, cursor: Cursor) -> bool:
        """Whether the query is another one than what was followed up to the cursor."""
        return cursor.queries[OWN] != stored(query) and normal(self._followed(cursor)) != normal(query)

    def _followed(self, cursor: Cursor) -> ChangeQuery:
        return reopened(self.spark, self.consumer.target, cursor.queries[OWN], cursor.frontiers[OWN])

    def _made(self, model: ChangesModel) -> Made:
        query = model.query.interval(None, self._newest(model)).lowered
        return Made.of(self.config.unique_key, query, self.config.immutable_where, self.spark)

    def _leads_over(self, found: Redefinition, added: Additive | None) -> bool:
        """Whether the rows of the query that was and of the one that is are compared and the difference is merged, so
        that rows keep their ids. It takes longer than making the target anew, which somebody who follows it would have
        to read whole."""
        asked, keyed = self.config.refresh, self.config.unique_key and not self.config.immutable_where
        alone = found.parts == (QUERY,) and not found.columns and not found.settings
        if not keyed or not alone or added is not None or asked in ("strict", "full"):
            return False
        target = self.planner.target(self.spark, self.consumer)
        grouped = ROWS in self.spark.table(self.consumer.target).columns
        return not grouped and (asked == "incremental" or may_be_followed(target))

    def _led_over(self, model: ChangesModel, reason: str, at: float) -> DifferentialPlan:
        """Both ends are read whole, which is what the run's costs are for."""
        planned = self._planned(
            _but(model, led_over=self._changes.led_over), None, f"{reason}, the rows of both are compared"
        )
        return self._noted(model, planned, at, size=2 * model.query.bytes_at(self._newest(model)))

    def _unchanged(self, found: Redefinition) -> DifferentialPlan:
        """The plan of the model as it was in the run before."""
        cursor = self.planner.cursor(self.spark, self.consumer)
        assert cursor.made is not None
        before = replace(self.config, unique_key=cursor.made.unique_key, immutable_where=cursor.made.final)
        planned = replace(self, config=before, query=self._followed(cursor)).plan()
        return replace(
            planned, reason=f"as before (on_configuration_change: continue): {found.reason}; {planned.reason}"
        )

    def _refresh(self, model: ChangesModel, added: bool) -> Refresh:
        cursor, query = self.planner.cursor(self.spark, self.consumer), model.query
        since = cursor.frontiers[OWN]
        interval = query.interval(query.frontier(since), query.at(self._end(model, since)))
        others = rebound(interval)
        if others:
            return Refresh(True, f"another column has this name now: {', '.join(others)}")
        followed = may_be_followed(self.planner.target(self.spark, self.consumer))
        return refresh(self.config.refresh, interval, cursor.costs, followed, added)

    def _end(self, model: ChangesModel, since: Frontier) -> dict[str, int]:
        """What this invocation reads, but never less than was read."""
        pinned = self.planner.pinned(self.consumer.invocation, model.query.logs)
        return {log.path: max(pinned[log.path], version_in(log, since) or 0) for log in model.query.logs}

    def _planned(
        self, model: ChangesModel, added: Additive | None, reason: str, nothing: bool = False
    ) -> DifferentialPlan:
        changes = self._changes
        if added is not None:
            plan = _but(model, rows=group_changes).plan(nothing)
            sql = self._without_empty_texts(added.no_groups(plan.sql) if nothing and plan.anew else plan.sql)
            return DifferentialPlan(sql, changes, plan.anew, reason, self._within(), added, unchecked=sql)
        plan = _but(model, rows=changes, keys=changes.keys).plan(nothing)
        if plan.anew:
            sql = changes.no_rows(plan.sql) if nothing else changes.all_rows(plan.sql)
            return DifferentialPlan(sql, changes, True, reason, unchecked=plan.sql)
        appended = changes.are_new(self.spark, plan.sql)
        return DifferentialPlan(plan.sql, changes, False, reason, self._within(), appended=appended)

    @property
    def _changes(self) -> KeyedChanges:
        return KeyedChanges(self.consumer.name, self.config.unique_key, self.config.partition_by)

    def _without_empty_texts(self, sql: str) -> str:
        config = self.config
        if not config.partition_by:
            return sql
        columns = columns_of(self.spark.sql(sql).schema)
        rows = without_empty_texts(self.consumer.name, f"({sql})", columns, config.partition_by, config.unique_key)
        return f"select * from {rows}"

    def _within(self) -> str:
        plan = self.planner.plan(self.consumer.name, self.consumer.invocation)
        return plan.within if plan is not None else ""


def _but(model: ChangesModel, query: ChangeQuery | None = None, **changes: Any) -> ChangesModel:
    """The same model otherwise, or with another query, which is open."""
    other = replace(model, **changes)
    other.__dict__["query"] = query or model.query
    return other
