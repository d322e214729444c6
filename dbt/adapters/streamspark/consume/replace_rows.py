"""A target made anew in its place: its files go, others come, in one commit; whether keys are unique is seen on the way
(docs/decisions/0037)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.differentiate.snapshots import files_at
from dbt.adapters.streamspark.changes.file_frame import add_files
from dbt.adapters.streamspark.changes.log import Action, TableLog
from dbt.adapters.streamspark.changes.marked_rows import physical_rows
from dbt.adapters.streamspark.changes.sequences import as_java
from dbt.adapters.streamspark.consume.columns import columns_of
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.counted_keys import CountedKeys
from dbt.adapters.streamspark.consume.key_bits import key_bits
from dbt.adapters.streamspark.consume.plain_columns import plain_columns
from dbt.adapters.streamspark.consume.target_commit import TargetCommit, count_written
from dbt.adapters.streamspark.steps import step

# Rules of the table that making it anew would take away or set up again.
RULES, NOT_NULL = "delta.constraints.", '"nullable":false'


def replace_rows(spark: SparkSession, consumption: Consumption) -> dict[str, int] | None:
    """Commits the rows of `consumption.replacement` as all that the target holds, and gives num_affected_rows. The
    session has the consumption's confs.

    None, with nothing committed, where the statement has to do it: a target of other columns or with rules of its own,
    keys that no bitmap can hold, and where not all keys are seen to be unique, for which the statement has the error;
    or where the consumption's number is taken, which makes the statement do nothing.
    """
    new = consumption.replacement
    if new is None:
        return None
    log, frame = TableLog(spark, consumption.target), spark.sql(new.rows)
    commit = TargetCommit(log, consumption)
    if not _fits(log, frame) or commit.is_taken():
        return None
    few = files_at(log, log.version)
    files = log.all_files(log.version) if few is None else few
    bits = _bits(frame, new.keys, files)
    if bits is None:
        return None
    return _replaced(log, commit, frame, bits, files)


def _replaced(
    log: TableLog, commit: TargetCommit, frame: DataFrame, bits: str, files: Sequence[Action]
) -> dict[str, int] | None:
    keys = CountedKeys(frame, bits) if bits else None
    written = commit.written(frame._jdf if keys is None else keys.rows)
    rows = count_written(written, frame)
    step("rows_written")
    if keys is not None and keys.count != rows:
        return None
    gone = [file.remove() for file in as_java(log, add_files(log, list(files)))]
    commit.commit([*written, *gone], _operation(log))
    return {"num_affected_rows": rows}


def _fits(log: TableLog, frame: DataFrame) -> bool:
    """Whether the target has just these columns, and nothing that its own statement sets up again."""
    text = str(log.snapshot().metadata().schemaString())
    held = StructType.fromJson(json.loads(text))
    ruled = any(name.startswith(RULES) for name in log.properties) or NOT_NULL in text
    return plain_columns(log) and not ruled and _told(held) == _told(frame.schema)


def _told(schema: StructType) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in columns_of(schema)]


def _bits(frame: DataFrame, keys: Sequence[str], files: Sequence[Action]) -> str | None:
    """Empty where no key has to be looked at; None where none can be, or nobody knows how many rows files have."""
    if any(physical_rows(file) is None for file in files):
        return None
    named = {column.name.lower(): column for column in columns_of(frame.schema)}
    return key_bits([named[key.lower()] for key in keys], files) if keys else ""


def _operation(log: TableLog) -> Any:
    """As INSERT OVERWRITE says it."""
    jvm, none = log._jvm.org.apache.spark.sql, [log._none] * 8
    return jvm.delta.DeltaOperations.Write(jvm.SaveMode.Overwrite, *none)
