"""Ways to get the protocol wrong, to be put in its place while a test runs: each loses or doubles rows, but only when a
process dies, or another one comes in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.log import Commit, TableLog
from dbt.adapters.streamspark.consume import commit as commits
from dbt.adapters.streamspark.consume import confs, cursor, planner, statements, user_metadata
from dbt.adapters.streamspark.consume.consumption import Consumption, StreamRead
from dbt.adapters.streamspark.consume.keep_alive import nothing
from dbt.adapters.streamspark.consume.target import open_target
from dbt.adapters.streamspark.steps import step
from tests.consuming import frontier

Patches = Sequence[tuple[Any, str, Any]]
_run, _consumption = commits._run, planner.Plan.consumption.fget  # type: ignore[attr-defined]
_read = user_metadata.read


def the_source_version_is_the_number() -> Patches:
    """Not a sequence number: of two plans from one cursor, the one that read on further is let through as well."""

    def numbered(plan: planner.Plan) -> Consumption:
        made = _consumption(plan)
        ends = [table.version for read in made.reads for table in read.end.tables]
        return replace(made, n=max(ends) + 1)

    return [(planner.Plan, "consumption", property(numbered))]


def nothing_is_verified() -> Patches:
    """A statement that Delta skipped, since its number was taken, passes for committed."""

    def landed(spark: SparkSession, consumption: Consumption, before: int) -> Commit:
        log = open_target(spark, consumption.target)
        assert log is not None
        return log.commit(log.version)

    return [(commits, "_landed", landed)]


def the_offset_has_a_commit_of_its_own() -> Patches:
    """First the rows, then the offset."""

    def run(spark: SparkSession, consumption: Consumption, sql: str) -> DataFrame:
        step("before_dml")
        result = spark.sql(sql)
        step("after_dml")
        with confs.consumption_confs(spark, consumption):
            spark.sql(nothing(consumption.target))
        return result

    return [(commits, "_run", run)]


def numbers_are_not_fenced() -> Patches:
    """Each attempt is a transaction of its own, so that Delta refuses none."""

    def run(spark: SparkSession, consumption: Consumption, sql: str) -> DataFrame:
        with (
            patch.object(confs, "APP_ID", "spark.harness.appId"),
            patch.object(confs, "TXN_VERSION", "spark.harness.n"),
        ):
            return _run(spark, consumption, sql)

    def read(commit: Commit, consumer: str) -> user_metadata.Consumed | None:
        n = (user_metadata._body(commit) or {}).get("n")
        return _read(replace(commit, txns={consumer: n}) if n else commit, consumer)

    return [(commits, "_run", run), (commits, "read", read), (cursor, "read", read)]


def stale_rows_are_tried_again() -> Patches:
    """Another run was first: the same statement again, with the next number."""

    def same(spark: SparkSession, texts: Sequence[str], old: Consumption, new: Consumption) -> Sequence[str]:
        return texts

    return [(statements, "plan_again", same)]


def the_end_is_not_pinned() -> Patches:
    """The offset says how far the source is when the write begins, not when the rows were planned."""

    def now(spark: SparkSession, read: StreamRead) -> StreamRead:
        [table] = read.end.tables
        return replace(read, end=frontier(TableLog(spark, table.name)))

    def run(spark: SparkSession, consumption: Consumption, sql: str) -> DataFrame:
        return _run(spark, replace(consumption, reads=tuple(now(spark, read) for read in consumption.reads)), sql)

    return [(commits, "_run", run)]


FAULTS: dict[str, Callable[[], Patches]] = {
    fault.__name__: fault
    for fault in (
        the_source_version_is_the_number,
        nothing_is_verified,
        the_offset_has_a_commit_of_its_own,
        numbers_are_not_fenced,
        stale_rows_are_tried_again,
        the_end_is_not_pinned,
    )
}


@contextmanager
def applied(name: str) -> Iterator[None]:
    """Within the block the protocol has the fault; "" for none."""
    with ExitStack() as stack:
        for place, attribute, instead in FAULTS[name]() if name else ():
            stack.enter_context(patch.object(place, attribute, instead))
        yield
