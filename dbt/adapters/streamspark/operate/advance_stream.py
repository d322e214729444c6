"""`advance_stream`: leave out what a consumer has not read yet; its offset goes to now and no row is written."""

from __future__ import annotations

from typing import Any

from dbt.adapters.streamspark.consume.move import ADVANCE, move
from dbt.adapters.streamspark.errors import InvalidArgument, UnknownName
from dbt.adapters.streamspark.operate.pending import START, Pending, consumption_of, pending_of_stream
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown

ALL = "all"


def advance_stream(scope: Scope, name: str, consumer: str | None = None, invocation: str = "") -> Shown:
    """Of the stream's one consumer, of `consumer`, or of all of them ("all"). Table `consumers`: what was left out, the
    number of the empty consumption and the target's version; both None where there was nothing to leave out.

    Raises UnknownName where nothing has consumed the stream, InvalidArgument where it is not said whose offset is
    meant, Fenced, StaleSource, BrokenSource, OffsetUnknown.
    """
    entry = scope.stream(name)
    found = pending_of_stream(scope, entry, None if consumer == ALL else consumer)
    _check(entry.name, found, consumer)
    rows = [{**one.shown(), **_advanced(scope, one, invocation)} for one in found]
    return Shown({"stream": entry.name}, {"consumers": rows})


def _check(name: str, found: list[Pending], consumer: str | None) -> None:
    if found[0].target == START:
        raise UnknownName(
            f"nothing has consumed stream {name} yet. Its start goes to now with dbt run --full-refresh --select "
            f"{name.rpartition('.')[2]}."
        )
    if len(found) > 1 and consumer is None:
        targets = ", ".join(one.target for one in found)
        raise InvalidArgument(
            f"stream {name} is read by {targets}: say whose offset (consumer: <one of them>, or all)."
        )


def _advanced(scope: Scope, one: Pending, invocation: str) -> dict[str, Any]:
    if not one.has_data:
        return {"consumption": None, "target_version": None}
    outcome = move(scope.spark, consumption_of(one, invocation), ADVANCE)
    return {"consumption": outcome.consumption.n, "target_version": outcome.version}
