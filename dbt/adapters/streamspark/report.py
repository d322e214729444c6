"""What a consumption tells the user: one line in dbt's log, and dbt's response with the interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.connections import StreamsparkResponse, response
from dbt.adapters.streamspark.consume.commit import Outcome
from dbt.adapters.streamspark.consume.consumption import StreamRead
from dbt.adapters.streamspark.consume.planner import Plan, Stream, interval_text, version_before
from dbt.adapters.streamspark.spark_errors import SqlError
from dbt.adapters.streamspark.streams.left_out import rows_at
from dbt.adapters.streamspark.streams.opened import open_stream
from dbt.adapters.streamspark.streams.stored_query import version_in

TWO_IMAGES = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"


@dataclass
class ConsumptionResponse(StreamsparkResponse):
    """dbt's response with the consumption's number, the target's version, how long the write took and at which try it
    came through, and per stream what was read: {"stream", "table", "from", "to", "shape", "from_time", "to_time"};
    `from` and `from_time` None stand for the initial rows. Of a stream on several tables `table`, `from` and `to` are
    lists."""

    consumption: int | None = None
    target_version: int | None = None
    seconds: float | None = None
    tries: int | None = None
    streams: list[dict[str, Any]] | None = None


def committed(plan: Plan, outcome: Outcome) -> tuple[str, ConsumptionResponse]:
    """The log line and the response of a consumption that was tried."""
    if outcome.skipped:
        return nothing_new(plan)
    counts = row_counts(outcome.rows_affected)
    again = f", try {outcome.tries}" if outcome.tries > 1 else ""
    done = f"{_rows(counts)} in {outcome.seconds:.1f} s, consumption {outcome.consumption.n}{again}"
    return f"{plan.consumer.target}: {_reads(plan)}: {done}", _response(plan, counts, outcome)


def _rows(counts: dict[str, int]) -> str:
    """By what was done with them, where the statement tells; one that only adds rows counts them as affected.

    >>> _rows({"affected": 3, "inserted": 2, "updated": 1, "deleted": 0}), _rows({"affected": 1_000}), _rows({})
    ('2 rows inserted, 1 updated, 0 deleted', '1,000 rows inserted', 'rows unknown')
    """
    if "affected" not in counts:
        return "rows unknown"
    inserted = f"{counts.get('inserted', counts['affected']):,} rows inserted"
    return ", ".join([inserted, *(f"{counts[done]:,} {done}" for done in ("updated", "deleted") if done in counts)])


def nothing_new(plan: Plan) -> tuple[str, ConsumptionResponse]:
    """The same for a run that has nothing to read and writes nothing."""
    made = _response(plan, {"affected": 0}, None)
    made._message = "OK nothing new"
    return f"{plan.consumer.target}: nothing new in {_reads(plan)}", made


def explained(error: SqlError) -> SqlError:
    """The error with what it most likely means for a consumer of streams."""
    if error.condition == TWO_IMAGES:
        hint = (
            "An update comes as two rows, the old and the new image. Leave the old ones out (where _change_type <> "
            "'update_preimage'; `METADATA$ACTION` <> 'DELETE' or not `METADATA$ISUPDATE`; __change_type <> "
            "'UPDATE_BEFORE'), or use incremental_strategy='apply_changes'."
        )
        return type(error)(f"{error}\n{hint}", error.condition, error.state)
    return error


def row_counts(found: dict[str, int] | None) -> dict[str, int]:
    """affected, inserted, updated, deleted, from num_affected_rows and so on."""
    return {key.removeprefix("num_").removesuffix("_rows"): value for key, value in (found or {}).items()}


def left_out(spark: SparkSession, plan: Plan) -> list[str]:
    """For each stream that begins later than its tables, that a consumer which begins now does not get older rows."""
    lines = []
    for read in plan.reads.values():
        older = "" if read.start is None else _older_rows(spark, plan.streams[read.stream_id], read.start)
        if older:
            lines.append(
                f"{plan.consumer.target} begins with the changes since stream {read.stream} was made: {older} are left "
                "out. show_initial_rows: true in the stream's configuration brings them."
            )
    return lines


def _older_rows(spark: SparkSession, stream: Stream, start: Frontier) -> str:
    """How many there are; a query's are not counted, which would be to compute it."""
    logs = open_stream(spark, stream.name, stream.definition, start).logs
    counts = [rows_at(log, version_in(log, start) or 0) for log in logs]
    if stream.definition.on_query:
        return "the rows that its query had before" if any(count != 0 for count in counts) else ""
    return f"{counts[0]:,} older rows of {logs[0].name}" if counts[0] else ""


def _response(plan: Plan, counts: dict[str, int], outcome: Outcome | None) -> ConsumptionResponse:
    base = response(counts)
    return ConsumptionResponse(
        _message=base._message,
        code=base.code,
        rows_affected=base.rows_affected,
        rows_inserted=counts.get("inserted", base.rows_affected),
        rows_updated=base.rows_updated,
        rows_deleted=base.rows_deleted,
        consumption=None if outcome is None else outcome.consumption.n,
        target_version=None if outcome is None else outcome.version,
        seconds=None if outcome is None else round(outcome.seconds, 3),
        tries=None if outcome is None else outcome.tries,
        streams=[_read(plan, read) for read in plan.reads.values()],
    )


def _read(plan: Plan, read: StreamRead) -> dict[str, Any]:
    """Names and versions stand alone for one table, in lists of the same order for several."""
    tables = read.end.tables
    since = None if read.start is None else _alone([version_before(read.start, table) for table in tables])
    until, shape = _alone([table.version for table in tables]), plan.shapes[read.stream_id]
    names = _alone([table.name for table in tables])
    return {
        "stream": read.stream,
        "table": names,
        "from": since,
        "to": until,
        "shape": shape,
        "from_time": None if read.start is None else read.start.timestamp.isoformat(timespec="seconds"),
        "to_time": read.end.timestamp.isoformat(timespec="seconds"),
    }


def _alone(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else list(values)


def _reads(plan: Plan) -> str:
    return " and ".join(_interval(read, plan.shapes[read.stream_id]) for read in plan.reads.values())


def _interval(read: StreamRead, shape: str) -> str:
    if len(read.end.tables) != 1:
        return f"{read.stream} [{interval_text(read.start, read.end)}] {_times(read)} {shape}"
    end = read.end.tables[0]
    since = f"({version_before(read.start, end)}, {end.version}]" if read.start else f"initial rows at {end.version}"
    return f"{read.stream} {since} {_times(read)} {shape}"


def _times(read: StreamRead) -> str:
    until = f"{read.end.timestamp:%Y-%m-%d %H:%M:%S} UTC"
    return f"of {until}" if read.start is None else f"of {read.start.timestamp:%Y-%m-%d %H:%M:%S} to {until}"
