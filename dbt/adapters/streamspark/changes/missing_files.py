"""Data files that are gone although the log names them, told by the error of the read that looked for one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from dbt.adapters.streamspark.changes.denied import denied, unlistable
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.plain_path import lies_in
from dbt.adapters.streamspark.errors import StaleSource, StreamsparkError
from dbt.adapters.streamspark.spark_errors import denial

MISSING = ("FAILED_READ_FILE.FILE_NOT_EXIST", "java.io.FileNotFoundException")
DATA_FILE = re.compile(r"\S+\.(?:parquet|bin)\b")


@contextmanager
def named_files(logs: Iterable[TableLog]) -> Iterator[None]:
    """Raises StaleSource for a missing file of one of the tables, BrokenSource for one that may not be read; other
    errors come as they are."""
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        found = _of_a_table(logs, error)
        if found is None:
            raise
        raise found from error


@contextmanager
def vectors_of(log: TableLog) -> Iterator[None]:
    """The same where deletion vectors of one table are read: a shallow clone's lie elsewhere."""
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        found = _missing(error)
        if found is None:
            raise
        raise _named(log, found, denial(error)) from error


def _of_a_table(logs: Iterable[TableLog], error: Exception) -> StreamsparkError | None:
    file = _missing(error)
    owner = next((log for log in logs if file is not None and lies_in(log.path, file)), None)
    if file is None or owner is None:
        return None
    return _named(owner, file, denial(error) or unlistable(owner.spark, owner.path))


def _missing(error: Exception) -> str | None:
    """The file that is gone or may not be read, where the error is about one."""
    text = str(error)
    match = DATA_FILE.search(text)
    told = denial(error) is not None or any(mark in text for mark in MISSING)
    return match.group() if match is not None and told else None


def _named(log: TableLog, file: str, said: str | None) -> StreamsparkError:
    if said is not None:
        return denied(log.name, f"the file {file}", said)
    return StaleSource(
        f"table {log.name}: a file that the changes need is no longer there ({file}), most likely because of a VACUUM. "
        "Ask for changes from a later version on, and raise delta.deletedFileRetentionDuration or ask more often."
    )
