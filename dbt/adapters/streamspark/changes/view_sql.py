"""The text of a stream's persistent view: its pending changes in plain SQL, for any session on the catalog.

A view cannot call this package, so standard mode compares two snapshots, insert-only reads the files that were not
there, and append-only, which two snapshots cannot tell, goes through Spark's own CHANGES.
Where plain SQL would give a wrong answer, the view raises and says how to read the stream instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.commit_times import LoggedTimes
from dbt.adapters.streamspark.changes.file_versions import path_in_table
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.log_sql import commit_times_sql, file_actions_sql, lookup_sql
from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.changes.minimise import minimise
from dbt.adapters.streamspark.changes.projection import Projection
from dbt.adapters.streamspark.changes.readers.insert_only import file_row_id
from dbt.adapters.streamspark.changes.rows import IMAGE_VERSION, data_struct, row_id, side_columns
from dbt.adapters.streamspark.changes.unique_rows import unique_rows
from dbt.adapters.streamspark.errors import StaleSource
from dbt.adapters.streamspark.literals import literal

ROW_IDS, HIGHEST = "delta.rowTracking", "rowIdHighWaterMark"
_NETTED = "with (deduplicationMode = 'dropCarryovers', computeUpdates = 'true')"


def view_sql(
    log: TableLog,
    table_name: str,
    start: int | None,
    *,
    mode: str = "standard",
    projection: Projection | None = None,
    unique_key: tuple[str, ...] = (),
    metadata_columns: str = "delta",
) -> str:
    """A SELECT of the changes of `table_name` (as SQL writes it) from version `start` to its newest version:
    the data columns, then the dialect's metadata columns. `start` None gives all rows as inserts."""
    interval = Interval(log, start, log.version, projection or Projection(), unique_key)
    metadata = DIALECTS[metadata_columns].select(LoggedTimes(_log_path(log)))
    rows = _rows(interval, table_name, mode)
    return f"select {', '.join(['__data.*', *metadata])} from ({rows})"


def _rows(interval: Interval, table: str, mode: str) -> str:
    by_mode: dict[str, Callable[[Interval, str], str]] = {
        "append_only": _append_only,
        "insert_only": _insert_only,
    }
    if interval.start is None:
        return _initial_rows(interval, table, tracked=mode != "insert_only")
    return by_mode.get(mode, _standard)(interval, table)


def _standard(interval: Interval, table: str) -> str:
    columns = ", ".join(interval.schemas.columns_at(interval.start or 0))
    then = f"(select {columns}, _metadata from {table} version as of {interval.start})"
    old = _side(interval, then, f"{_removed_version(interval)} as __gone")
    new = _side(interval, table, f"{IMAGE_VERSION} as __changed")
    return minimise(old, new, _data_type(interval), changed="n.__changed")


def _side(interval: Interval, relation: str, extra: str) -> str:
    columns = ", ".join(side_columns(interval, extra))
    side = f"(select {columns} from {relation} where {interval.projection.filter})"
    return unique_rows(side, interval.log.name, interval.unique_key)


def _initial_rows(interval: Interval, table: str, tracked: bool) -> str:
    version = IMAGE_VERSION if tracked else f"({_newest(interval)})"
    row = row_id(interval) if tracked else file_row_id(interval)
    return _inserts(interval, table, version, row, interval.projection.filter)


def _inserts(interval: Interval, relation: str, version: str, row: str, where: str) -> str:
    return (
        f"select 'insert' as __type, {version} as __version, {version} as __image, cast({row} as string) as __row, "
        f"{data_struct(interval)} as __data from {relation} where {where}"
    )


def _append_only(interval: Interval, table: str) -> str:
    """Spark's CHANGES reads every commit. It fails under column mapping, and gives NULL for partition columns that
    the files do not hold, so there the view raises. Rows brought back by RESTORE are no new inserts."""
    trouble = _native_trouble(interval)
    if trouble:
        return _raising(interval, table, trouble)
    changes = f"{table} changes from version {interval.start} inclusive {_NETTED}"
    first = "row_number() over (partition by _metadata.row_id order by _commit_version) as __nth"
    inserted = f"select *, {first} from {changes} where _change_type = 'insert' and _commit_version > {interval.start}"
    fresh = f"__nth = 1 and _metadata.row_id > {_high_water_mark(interval)} and ({interval.projection.filter})"
    return _inserts(interval, f"({inserted})", "_commit_version", row_id(interval), fresh)


def _native_trouble(interval: Interval) -> str:
    if interval.log.properties.get("delta.columnMapping.mode", "none") != "none":
        return "is column-mapped"
    return "is partitioned" if interval.schemas.partitioned else ""


def _raising(interval: Interval, table: str, trouble: str) -> str:
    message = literal(
        f"table {interval.log.name} {trouble}: plain SQL cannot give the append-only changes of such a table. "
        "Read the stream with {{ stream('...') }}, for example in dbt show."
    )
    return _inserts(interval, table, IMAGE_VERSION, row_id(interval), f"(select raise_error({message})) is null")


def _insert_only(interval: Interval, table: str) -> str:
    adds = file_actions_sql(_log_path(interval.log), "add", interval.start or 0)
    message = literal(
        f"table {interval.log.name} was compacted, or rows were deleted from its files, since the stream's offset: "
        "plain SQL cannot tell which rows are new. Read the stream with {{ stream('...') }}, for example in dbt show."
    )
    unclear = f"if(not data_change or vector is not null, raise_error({message}), null)"
    once = f"(select file, max(v) as v from {adds} group by file)"  # a file is added again with each of its vectors
    version = lookup_sql("file", "v", once, "_metadata.file_name")
    check = f"(select count({unclear}) from {adds}) = 0"
    where = f"{version} is not null and {check} and ({interval.projection.filter})"
    return _inserts(interval, table, version, file_row_id(interval), where)


def _removed_version(interval: Interval) -> str:
    """The version that took a row away, by the file that held it; the newest where the log does not say."""
    removes = file_actions_sql(_log_path(interval.log), "remove", interval.start or 0)
    latest = f"(select path, max(v) as v from {removes} where data_change group by path)"
    version = lookup_sql("path", "v", latest, path_in_table(interval.log.uri))
    return f"coalesce({version}, ({_newest(interval)}))"


def _newest(interval: Interval) -> str:
    return f"select max(v) from {commit_times_sql(_log_path(interval.log))}"


def _log_path(log: TableLog) -> str:
    return f"{log.path}/_delta_log"


def _high_water_mark(interval: Interval) -> int:
    """The highest row id that was given out at the start, by the newest commit that gave any: its file costs no Spark
    job, other than Delta's snapshot of that version."""
    start = interval.start or 0
    try:
        commits = (interval.log.commit(version) for version in range(start, -1, -1))
        return next((int(json.loads(c.domains[ROW_IDS])[HIGHEST]) for c in commits if ROW_IDS in c.domains), -1)
    except StaleSource:  # cleaned away, as it was long before the start: then only the snapshot tells
        return _high_water_mark_in_snapshot(interval)


def _high_water_mark_in_snapshot(interval: Interval) -> int:
    row_ids = getattr(interval.log._jvm.org.apache.spark.sql.delta, "RowId$")
    mark = row_ids.extractHighWatermark(interval.log.snapshot(interval.start))
    return int(mark.get()) if mark.isDefined() else -1


def _data_type(interval: Interval) -> StructType:
    frame = interval.schemas.frame([], interval.end).selectExpr(f"{data_struct(interval)} as __data")
    data = frame.schema["__data"].dataType
    assert isinstance(data, StructType)
    return data
