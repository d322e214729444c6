"""Errors keep their class, and conflicts are told apart; without Spark, on errors as PySpark raises them."""

from __future__ import annotations

import pytest
from delta.exceptions.base import ConcurrentAppendException, MetadataChangedException
from pyspark.errors import AnalysisException, PySparkException

from dbt.adapters.streamspark.connections import response
from dbt.adapters.streamspark.session import Result
from dbt.adapters.streamspark.spark_errors import ConflictError, SqlError, as_sql_error, is_conflict


def test_the_condition_is_kept() -> None:
    error = as_sql_error(AnalysisException("[DELTA_TABLE_NOT_FOUND] Delta table `t` doesn't exist."))
    assert isinstance(error, SqlError) and not isinstance(error, ConflictError)
    assert error.condition == "DELTA_TABLE_NOT_FOUND"


def test_stack_traces_stay_in_the_cause() -> None:
    error = as_sql_error(AnalysisException("[A_B] no\nJVM stacktrace:\nat org.apache"))
    assert str(error) == "[A_B] no"
    assert "org.apache" in str(error.__cause__)


class Java:
    """A Java exception and its cause."""

    def __init__(self, message: str, cause: Java | None = None):
        self.message, self.cause = message, cause

    def getMessage(self) -> str:
        return self.message

    def getCause(self) -> Java | None:
        return self.cause

    def getClass(self) -> type:
        return type("Class", (), {"getName": staticmethod(lambda: "org.apache.spark.SparkException")})


def test_a_wrapper_says_what_it_wraps() -> None:
    """A subquery's error."""
    said = "Exception thrown in awaitResult: "
    error = PySparkException(said)
    error._origin = Java(said, Java("Job aborted", Java("[CAST_INVALID_INPUT] The value 'a'\nat line 1")))  # type: ignore[attr-defined]
    assert str(as_sql_error(error)) == "Exception thrown in awaitResult:\nCause: [CAST_INVALID_INPUT] The value 'a'"


@pytest.mark.parametrize("kind", [ConcurrentAppendException, MetadataChangedException])
def test_deltas_conflicts_by_class(kind: type[Exception]) -> None:
    assert isinstance(as_sql_error(kind("files were added")), ConflictError)


def test_conflicts_by_condition() -> None:
    assert is_conflict(AnalysisException("[DELTA_CONCURRENT_TRANSACTION] this occurs when …"))


def test_the_response_says_how_many_rows() -> None:
    made = response({"affected": 1234, "inserted": 1200, "updated": 34, "deleted": 0})
    assert str(made) == "OK 1,234 rows"
    assert (made.rows_affected, made.rows_inserted, made.rows_updated, made.rows_deleted) == (1234, 1200, 34, 0)
    assert str(response({})) == "OK"


def test_fetching_uses_rows_up() -> None:
    result = Result([], [(n,) for n in range(4)])
    assert result.fetchone() == (0,)
    assert result.fetchmany(2) == [(1,), (2,)]
    assert result.fetchall() == [(3,)]
    assert result.fetchone() is None
