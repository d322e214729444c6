"""One model for each strategy: what a run of it writes. None forgives a change that is lost, or applied twice, where
the strategy lets rows say so: the merge adds to what is there, the overwrites keep the rows that are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import uuid4

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.by_path import by_path
from dbt.adapters.streamspark.consume.changes_applied import changes_applied
from dbt.adapters.streamspark.consume.changes_model import ChangesConfig, ChangesModel
from dbt.adapters.streamspark.consume.columns import Column, columns_of
from dbt.adapters.streamspark.consume.commit import Outcome, commit
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.differential import DifferentialConfig, DifferentialModel
from dbt.adapters.streamspark.consume.planner import Consumer, Plan, Planner, Stream
from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from dbt.adapters.streamspark.consume.target import open_target
from dbt.adapters.streamspark.streams.base_query import parse_base_query
from dbt.adapters.streamspark.streams.config import StreamConfig
from dbt.adapters.streamspark.streams.definition import StreamDefinition, new_definition
from tests.consuming import frontier

CONSUMER = "streamspark/model.harness.target"
ROWS = "harness_rows"
VECTORS = "tblproperties ('delta.enableDeletionVectors' = 'true')"
SIGN = "if(_change_type in ('insert', 'update_postimage'), 1, -1)"
INSERTED = "select id, k, v from {changes} where _change_type = 'insert'"


@dataclass(frozen=True)
class Place:
    """What a process has to know to consume: names of tables, the stream, and the strategy."""

    strategy: str
    source: str
    target: str
    stream: StreamDefinition
    consumer: str = CONSUMER


def stream_on(spark: SparkSession, source: str) -> StreamDefinition:
    """A stream on a table of today, its rows included."""
    query = parse_base_query(f"select * from {source}")
    return new_definition(StreamConfig(show_initial_rows=True), query, frontier(TableLog(spark, source)))


@dataclass(frozen=True)
class Run:
    """One run of the model."""

    spark: SparkSession
    place: Place
    planner: Planner
    consumer: Consumer

    @property
    def target(self) -> str:
        return self.place.target

    @property
    def changes(self) -> str:
        return self.planner.read(self.spark, self.consumer, Stream(self.place.stream.id, self.place.stream))

    @property
    def planned(self) -> Plan:
        plan = self.planner.plan(self.consumer.name, self.consumer.invocation)
        assert plan is not None
        return plan

    def created(self, sql: str, clauses: str = "") -> list[str]:
        return [f"create or replace table {self.target} using delta {clauses} as {sql}"]

    def staged(self, sql: str) -> str:
        """The statement that makes the view of the model's rows, which is there when this returns."""
        made = f"create or replace temporary view {ROWS} as {sql}"
        self.spark.sql(made)
        return made

    def columns_of(self, table: str) -> tuple[Column, ...]:
        return columns_of(self.spark.table(table).schema)


def append(run: Run) -> list[str]:
    sql = INSERTED.format(changes=run.changes)
    if not run.consumer.is_table:
        return run.created(sql)
    return [run.staged(sql), f"insert into {run.target} (id, k, v) select id, k, v from {ROWS}"]


def merge(run: Run) -> list[str]:
    sql = f"select k, sum({SIGN}) as n, sum({SIGN} * v) as total from {run.changes} group by k"
    if not run.consumer.is_table:
        return run.created(sql)
    return [
        run.staged(sql),
        f"merge into {run.target} t using {ROWS} c on t.k <=> c.k "
        "when matched then update set n = t.n + c.n, total = t.total + c.total "
        "when not matched then insert (k, n, total) values (c.k, c.n, c.total)",
    ]


def apply_changes_1(run: Run) -> list[str]:
    return _applied(run, ScdConfig(unique_key=("id",)))


def apply_changes_2(run: Run) -> list[str]:
    return _applied(run, ScdConfig(unique_key=("id",), scd_type=2))


def _applied(run: Run, config: ScdConfig) -> list[str]:
    staged = run.staged(f"select * from {run.changes}")
    sql = changes_applied("model.harness.target", ROWS, run.columns_of(ROWS), config)
    if not run.consumer.is_table:
        return [staged, *run.created(sql.upserts(), VECTORS)]
    merge = sql.merge(run.target, list(run.columns_of(run.target)))
    run.planned.merge = replace(merge, staged=ROWS)
    return [staged, merge.sql()]


def insert_overwrite(run: Run) -> list[str]:
    changes = run.changes
    sql = INSERTED.format(changes=changes)
    if not run.consumer.is_table:
        return run.created(sql, "partitioned by (k)")
    held = f"select id, k, v from {run.target} where k in (select k from {changes})"
    dynamic = "with ('partitionOverwriteMode' = 'dynamic')"
    return [
        run.staged(f"{sql} union all {held}"),
        f"insert overwrite {by_path(run.spark, run.target)} {dynamic} (id, k, v) select id, k, v from {ROWS}",
    ]


def replace_where(run: Run) -> list[str]:
    sql = INSERTED.format(changes=run.changes)
    if not run.consumer.is_table:
        return run.created(sql)
    staged = run.staged(f"{sql} union all select id, k, v from {run.target} where k >= 0")
    return [staged, f"insert into {run.target} by name replace where k >= 0 select id, k, v from {ROWS}"]


def table(run: Run) -> list[str]:
    return run.created(f"select _change_type, id, k, v from {run.changes}")


def changes(run: Run) -> list[str]:
    query = f"select id, k, v from {run.place.source}"
    config = ChangesConfig(initial_rows=True)
    plan = ChangesModel(run.spark, run.planner, run.consumer, query, config).plan()
    if plan.anew:
        return run.created(plan.sql, "tblproperties ('delta.enableRowTracking' = 'true')")
    return [run.staged(plan.sql), f"insert into {run.target} select * from {ROWS}"]


def differential(run: Run) -> list[str]:
    query = f"select k, count(*) as n, sum(v) as total from {run.place.source} group by k"
    return _maintained(run, query, DifferentialConfig(("k",), "incremental"))


def differential_anew(run: Run) -> list[str]:
    return _maintained(run, f"select id, k, v from {run.place.source}", DifferentialConfig(("id",), "full"))


def _maintained(run: Run, query: str, config: DifferentialConfig) -> list[str]:
    plan = DifferentialModel(run.spark, run.planner, run.consumer, query, config).plan()
    if plan.anew:
        return run.created(plan.sql, VECTORS)
    staged = run.staged(plan.sql)
    return [staged, plan.write(run.planned, ROWS, run.columns_of(ROWS), run.target, run.columns_of(run.target))]


STRATEGIES: dict[str, Callable[[Run], list[str]]] = {
    "append": append,
    "merge": merge,
    "apply_changes 1": apply_changes_1,
    "apply_changes 2": apply_changes_2,
    "insert_overwrite": insert_overwrite,
    "replace_where": replace_where,
    "differential": differential,
    "differential anew": differential_anew,
    "changes": changes,
    "table": table,
}
INSERTS_ONLY = ("append", "insert_overwrite", "replace_where")
OWN_QUERY = ("changes", "differential", "differential anew")


def consume(spark: SparkSession, place: Place) -> Outcome | None:
    """One run of the model, as StreamMethods does it for dbt; None where nothing is to be written."""
    planner, is_table = Planner(), open_target(spark, place.target) is not None
    rebuild = not is_table and place.strategy in OWN_QUERY
    consumer = Consumer(place.consumer, place.target, uuid4().hex, rebuild, is_table)
    statements = STRATEGIES[place.strategy](Run(spark, place, planner, consumer))
    plan = planner.plan(consumer.name, consumer.invocation)
    assert plan is not None
    if plan.consumption.is_empty and is_table and place.strategy != "table":
        return None

    def plan_again() -> Consumption:
        nonlocal plan
        assert plan is not None
        plan = planner.plan_again(spark, plan)
        return plan.consumption

    return commit(spark, plan.consumption, statements, plan_again)
