"""What goes wrong while a client writes, as the error that its next call raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from dbt.adapters.streamspark.errors import StreamsparkError
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.ingest.landing_table import not_permitted
from dbt.adapters.streamspark.spark_errors import as_sql_error


def writer_failure(table: str, error: Exception) -> StreamingIngestError:
    """NoPermission, or WriterFailed with what was said; an error of ingest's own stays what it is."""
    if isinstance(error, StreamingIngestError):
        return error
    made = not_permitted(table, error) or StreamingIngestError(
        "WriterFailed",
        f"table {table}: rows could not be written: {_said(error)}. Rows not yet committed are gone. Open the "
        "channels again, with another Spark session if this one has ended, and go on from their committed tokens.",
    )
    made.__cause__ = error
    return made


@contextmanager
def reported(table: str) -> Iterator[None]:
    """Spark's errors within the block as StreamingIngestError."""
    try:
        yield
    except (PySparkException, Py4JError, StreamsparkError, OSError) as error:
        raise writer_failure(table, error) from error


def _said(error: Exception) -> str:
    if isinstance(error, PySparkException):
        return str(as_sql_error(error))
    return str(error).strip() or type(error).__name__
