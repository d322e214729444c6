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


def _of_a_table(logs: Iterable[TableLog], error: Exception) -> StreamsparkError | None:
    text, said = str(error), denial(error)
    match = DATA_FILE.search(text)
    if match is None or (said is None and not any(mark in text for mark in MISSING)):
        return None
    file = match.group()
    owner = next((log for log in logs if lies_in(log.path, file)), None)
    return None if owner is None else _named(owner, file, said or unlistable(owner.spark, owner.path))


def _named(log: TableLog, file: str, said: str | None) -> StreamsparkError:
    if said is not None:
        return denied(log.name, f"the file {file}", said)
    return StaleSource(
        f"table {log.name}: a file that the changes need is no longer there ({file}), most likely because of a VACUUM. "
        "Ask for changes from a later version on, and raise delta.deletedFileRetentionDuration or ask more often."
    )
