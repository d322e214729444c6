"""Spark's and Delta's errors, told apart by their error class. No dbt import, so `consume` may use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from dbt.adapters.streamspark.errors import StreamsparkError

CONFLICT_CONDITIONS = (
    "DELTA_CONCURRENT_",
    "DELTA_METADATA_CHANGED",
    "DELTA_PROTOCOL_CHANGED",
)
CONFLICT_CLASSES = (
    "ConcurrentWriteException",
    "ConcurrentAppendException",
    "ConcurrentDeleteReadException",
    "ConcurrentDeleteDeleteException",
    "ConcurrentTransactionException",
    "MetadataChangedException",
    "ProtocolChangedException",
    "DeltaConcurrentModificationException",
    "CommitFailedException",
)
# errors that say where something failed, not what: a task that writes, a subquery that a query waits for
WRAPPERS = ("[TASK_WRITE_FAILED]", "Exception thrown in awaitResult")
DENIALS = ("Permission denied", "AccessControlException", "AccessDenied")


class SqlError(StreamsparkError):
    """A statement failed. `condition` is Spark's or Delta's error class, or None; `state` the SQLSTATE."""

    def __init__(self, message: str, condition: str | None = None, state: str | None = None):
        super().__init__(message)
        self.condition = condition
        self.state = state


class ConflictError(SqlError):
    """Another writer committed to the table first, in a way that Delta cannot reconcile."""


def as_sql_error(error: Exception) -> SqlError:
    """The SqlError or ConflictError that says what `error`, raised by PySpark or py4j, says.

    The message starts with the error class in brackets, is free of stack traces, and `error` is its cause.
    """
    condition, state = _condition(error), _state(error)
    kind = ConflictError if is_conflict(error) else SqlError
    made = kind(_message(error, condition), condition, state)
    made.__cause__ = error
    return made


def is_conflict(error: BaseException) -> bool:
    """Whether `error` says that a concurrent writer won.

    >>> is_conflict(ValueError("no"))
    False
    """
    if isinstance(error, ConflictError):
        return True
    if (_condition(error) or "").startswith(CONFLICT_CONDITIONS):
        return True
    return any(name.rsplit(".", 1)[-1] in CONFLICT_CLASSES for name in _class_names(error))


def denial(error: BaseException) -> str | None:
    """What the storage said when it refused access, None when it did not. Spark calls such a file not existing,
    so the causes of the error are looked at, the last of them first.

    >>> denial(PermissionError("Permission denied: /t")), denial(ValueError("no"))
    ('Permission denied: /t', None)
    """
    said = [str(error), *(f"{cause.getClass().getName()}: {cause.getMessage()}" for cause in _causes(error))]
    return next((text.split("\n")[0] for text in reversed(said) if any(mark in text for mark in DENIALS)), None)


def _condition(error: BaseException) -> str | None:
    if isinstance(error, SqlError):
        return error.condition
    if isinstance(error, PySparkException):
        return error.getCondition() or _condition_in(str(error))
    return _condition_in(str(error))


def _condition_in(text: str) -> str | None:
    """The error class that a message starts with, also after a Java class name.

    >>> _condition_in("[DELTA_TABLE_NOT_FOUND] Delta table `t` doesn't exist.")
    'DELTA_TABLE_NOT_FOUND'
    """
    _, bracket, rest = text.split("\n", 1)[0].partition("[")
    name = rest.partition("]")[0]
    is_class = bool(bracket) and name.replace("_", "").replace(".", "").isalnum() and name.split(".")[0].isupper()
    return name if is_class else None


def _state(error: BaseException) -> str | None:
    return error.getSqlState() if isinstance(error, PySparkException) else None


def _message(error: BaseException, condition: str | None) -> str:
    text = _java_message(error) if isinstance(error, Py4JJavaError) else str(error)
    text = text.split("\nJVM stacktrace:", 1)[0].strip()
    cause = denial(error) or (_innermost(error) if any(mark in text for mark in WRAPPERS) else None)
    text = text if cause is None or cause in text else f"{text}\nCause: {cause}"
    return text if not condition or f"[{condition}]" in text else f"[{condition}] {text}"


def _innermost(error: BaseException) -> str | None:
    """What the cause of all the others says."""
    said = [str(cause.getMessage()) for cause in _causes(error) if cause.getMessage()]
    return said[-1].split("\n")[0] if said else None


def _java_message(error: Py4JJavaError) -> str:
    java = error.java_exception
    return f"{java.getClass().getName()}: {java.getMessage()}"


def _class_names(error: BaseException) -> list[str]:
    return [type(error).__name__, *(str(cause.getClass().getName()) for cause in _causes(error))]


def _causes(error: BaseException) -> Iterator[Any]:
    """The Java exception that `error` stands for, and its causes."""
    java: Any = error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    while java is not None:
        yield java
        java = java.getCause()
