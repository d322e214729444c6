"""Functions that give another value each time they are asked, and those that tell the time.

The first are refused by name. The second are bound: to the time of the interval's start where a row of the start is
computed, to that of its end where one of the end is (decision 0013).
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.algebra import CLOCK
from dbt.adapters.streamspark.changes.query.clock_words import clock_text, refuse_clock_word
from dbt.adapters.streamspark.changes.query.functions import function_name
from dbt.adapters.streamspark.changes.query.not_covered import Node, place
from dbt.adapters.streamspark.errors import UnsupportedQuery

# what streams on one table refuse too, which refuse clocks as well
COMMON_NAMES = frozenset(
    (
        *("rand", "random", "randn", "randstr", "uniform", "uuid", "shuffle", "monotonically_increasing_id"),
        *("user", "current_user", "session_user", "current_catalog", "current_database", "current_schema"),
        *("spark_partition_id", "input_file_name", "input_file_block_start", "input_file_block_length"),
        *("current_timezone", "current_path"),
        *(f"kll_{what}_agg_{kind}" for what in ("sketch", "merge") for kind in ("bigint", "float", "double")),
    )
)
VOLATILE_NAMES = COMMON_NAMES | {"reflect", "java_method", "try_reflect", "version"}
VOLATILE_TYPES = (exp.CurrentUser, exp.CurrentSchema, exp.Rand, exp.Randn, exp.Uuid)


def refuse_volatile(root: Node, columns: Collection[str]) -> None:
    """Raises UnsupportedQuery for a function or clause whose result is not fixed by its input. `columns` are the names,
    in lower case, that tables have: one of them may be called `user`."""
    for part in root.walk():
        if isinstance(part, exp.Column) and part.name.lower() in columns:
            continue
        if isinstance(part, exp.TableSample):
            raise UnsupportedQuery(f"TABLESAMPLE takes other rows each time it is asked: {place(part.parent or part)}")
        moving = clock_text(part)
        if moving is not None:
            refuse_clock_word(moving)
        if isinstance(part, VOLATILE_TYPES) or function_name(part) in VOLATILE_NAMES or is_salted(part):
            raise UnsupportedQuery(
                f"{function_name(part) or part.key}() gives another value each time it is asked, so that its changes "
                f"cannot be told: {place(part)}"
            )


def is_salted(part: Node) -> bool:
    """Whether it encrypts with a random vector: aes_encrypt(value, key, mode, padding, vector, …) does so unless it is
    given one, in all modes but ECB."""
    if function_name(part) != "aes_encrypt":
        return False
    mode, _, vector = [*part.expressions[2:5], None, None, None][:3]
    is_ecb = isinstance(mode, exp.Literal) and mode.name.upper() == "ECB"
    return not is_ecb and (vector is None or vector.name == "")


def tells_time(root: Node) -> bool:
    """Whether a function in the query tells the time."""
    return bool(bind_clock(root.copy()) != root)


def bind_clock(root: Node) -> Node:
    """The query with every function that tells the time made one of the marker that stands for it."""
    return root.transform(_bound)


def _bound(part: Node) -> Node:
    now = exp.Anonymous(this=CLOCK.removesuffix("()"))
    if _asks_unix_time(part):
        return exp.Anonymous(this="unix_timestamp", expressions=[now])
    if isinstance(part, exp.CurrentTimestamp) or function_name(part) in ("now", "current_timestamp"):
        return now
    if isinstance(part, exp.CurrentDate) or function_name(part) in ("current_date", "curdate"):
        return exp.Cast(this=now, to=exp.DataType.build("date"))
    if function_name(part) == "localtimestamp":
        return exp.Cast(this=now, to=exp.DataType.build("timestamp_ntz", dialect="spark"))
    if function_name(part) == "current_time":
        raise UnsupportedQuery(f"current_time() is not bound to a time yet: {place(part)}")
    return part


def _asks_unix_time(part: Node) -> bool:
    if isinstance(part, exp.StrToUnix | exp.TimeToUnix):
        return part.this is None or isinstance(part.this, exp.CurrentTimestamp)
    return function_name(part) == "unix_timestamp" and not part.expressions
