"""One consumption, committed exactly once: rows and offset in the same commit of the target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.log import Commit
from dbt.adapters.streamspark.consume import statements as texts
from dbt.adapters.streamspark.consume.confs import consumption_confs
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.cursor import rewound
from dbt.adapters.streamspark.consume.failures import source_failure, was_first
from dbt.adapters.streamspark.consume.merge_by_position import merge_by_position
from dbt.adapters.streamspark.consume.replace_rows import replace_rows
from dbt.adapters.streamspark.consume.target import open_target, refuse_target
from dbt.adapters.streamspark.consume.user_metadata import read
from dbt.adapters.streamspark.errors import ConsumptionRefused, Fenced, OffsetUnknown, StaleSource
from dbt.adapters.streamspark.steps import step


@dataclass(frozen=True)
class Outcome:
    """What became of a consumption (the last plan of it).

    `version` is the target version committed, None when `skipped` because another run had consumed
    everything. `rows_affected` holds num_affected_rows and, for MERGE, num_updated_rows, num_deleted_rows
    and num_inserted_rows. `seconds` is what the statement took, the look for its commit included.
    """

    consumption: Consumption
    version: int | None
    rows_affected: dict[str, int] | None
    tries: int
    skipped: bool = False
    seconds: float = 0.0


class Overtaken(Exception):
    """Another commit came first; the plan no longer holds. `silent`: Delta skipped without a word."""

    def __init__(self, why: str, silent: bool = False):
        super().__init__(why)
        self.silent = silent


def commit(
    spark: SparkSession,
    consumption: Consumption,
    statements: Sequence[str],
    plan_again: Callable[[], Consumption],
    tries: int = 3,
) -> Outcome:
    """Run `statements`, the last of which is the one write, as the commit number `consumption.n`.

    When another run was first, `plan_again()` gives a new Consumption from the new cursor (with a new
    attempt), its intervals replace the old ones in the statements, and it is tried again: never the same
    rows twice. Raises ConsumptionRefused, Fenced (after `tries`), StaleSource, BrokenSource, OffsetUnknown, or
    what the statement itself raises.
    """
    texts.check(spark, consumption, statements)
    for number in range(1, tries + 1):
        try:
            return _try(spark, consumption, statements, number)
        except Overtaken as error:
            overtaken = error
        fresh = plan_again()
        _check_moved(consumption, fresh, overtaken)
        if fresh.is_empty and fresh.n != consumption.n:
            return Outcome(fresh, None, None, number, skipped=True)
        statements = texts.plan_again(spark, statements, consumption, fresh)
        consumption = fresh
    raise Fenced(
        f"{consumption.consumer} could not commit into {consumption.target}: other writers were first {tries} "
        f"times ({overtaken}). Run the model again when they are done."
    ) from overtaken


def _try(spark: SparkSession, consumption: Consumption, statements: Sequence[str], number: int) -> Outcome:
    before, began = _check_target(spark, consumption), perf_counter()
    for sql in statements[:-1]:
        spark.sql(sql)
    step("staged")
    try:
        result = _run(spark, consumption, statements[-1])
    except Exception as error:
        if not was_first(error):
            raise source_failure(spark, error, consumption) or error from error
        raise Overtaken(str(error).split("\n")[0]) from error
    step("verify")
    landed = _landed(spark, consumption, before)
    if landed is None:
        raise Overtaken(f"number {consumption.n} was taken", silent=True)
    step("done")
    seconds = perf_counter() - began
    return Outcome(consumption, landed.version, _rows_affected(result, landed), number, seconds=seconds)


def _run(spark: SparkSession, consumption: Consumption, sql: str) -> DataFrame | dict[str, int]:
    """The one statement that runs under the confs, or what does the same sooner."""
    with consumption_confs(spark, consumption):
        step("before_dml")
        result = merge_by_position(spark, consumption) or replace_rows(spark, consumption) or spark.sql(sql)
        step("after_dml")
    return result


def _check_target(spark: SparkSession, consumption: Consumption) -> int:
    """The target's version now (-1: none). Raises Overtaken when it is not the table planned for."""
    log = open_target(spark, consumption.target)
    if log is None:
        return -1
    refuse_target(log)
    seen = None if consumption.rebuild else consumption.seen
    if seen is not None and log.version < seen:
        raise Overtaken(f"table {consumption.target} was made again")
    try:
        between = rewound(log, seen, log.version + 1)
    except StaleSource as error:
        raise Overtaken(f"the log of {consumption.target} was cleaned") from error
    if between is not None:
        raise Overtaken(f"a {between.operation} came first, at version {between.version}")
    return log.version


def _landed(spark: SparkSession, consumption: Consumption, before: int) -> Commit | None:
    """The commit that carries this attempt, among those newer than `before`."""
    log = open_target(spark, consumption.target)
    if log is None:
        return None
    floor = before if log.version > before else -1
    for version in range(log.version, floor, -1):
        found = log.commit(version)
        consumed = read(found, consumption.consumer)
        if consumed is not None and consumed.attempt == consumption.attempt:
            _check_not_rewound(rewound(log, consumed.seen, version), consumption, version)
            return found
    return None


def _check_not_rewound(between: Commit | None, consumption: Consumption, version: int) -> None:
    if between is not None:
        raise OffsetUnknown(
            f"table {consumption.target}: a {between.operation} (version {between.version}) came between the "
            f"planning and the commit (version {version}) of {consumption.consumer}, so rows are missing in it. "
            f"RESTORE TABLE {consumption.target} TO VERSION AS OF {between.version} and run the model again."
        )


def _check_moved(old: Consumption, fresh: Consumption, overtaken: Overtaken) -> None:
    """A statement that ran in silence and left no commit, with nobody else's commit to explain it."""
    if overtaken.silent and fresh.n == old.n:
        raise ConsumptionRefused(
            f"{old.consumer}: its statement committed nothing into {old.target}, so the offset did not move. "
            f"It must write into {old.target} itself."
        )
    if fresh.attempt == old.attempt:
        raise ConsumptionRefused(f"{old.consumer}: planned again with the attempt id of the plan before.")


def _rows_affected(result: DataFrame | dict[str, int], landed: Commit) -> dict[str, int] | None:
    """From the statement's own answer (MERGE, UPDATE), else from the commit's metrics (INSERT, CTAS)."""
    if isinstance(result, dict):
        return result
    if any(name.startswith("num_") for name in result.columns):
        row = result.first()
        return None if row is None else {key: int(value) for key, value in row.asDict().items()}
    written = landed.info.get("operationMetrics", {}).get("numOutputRows")
    return None if written is None else {"num_affected_rows": int(written)}
