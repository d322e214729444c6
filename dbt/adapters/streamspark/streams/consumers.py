"""Which models may consume a stream, and under which name they do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import ConsumptionRefused

PREFIX = "streamspark/"
CONSUMING = ("incremental", "table")
WHY_NOT = {
    "view": "a view is computed each time that it is read, so nothing says when a change is consumed",
    "ephemeral": "an ephemeral model is a part of other models and writes nothing itself",
    "snapshot": "a snapshot compares whole tables and keeps no offset",
    "changes": "its query is computed at two points in the past, and a stream has but its changes (to keep those, "
    "append them with incremental_strategy='append')",
    "stream": "a stream is on a table, not on another stream",
}
REFUSED_STRATEGIES = {
    "microbatch": ("reads its input once per batch, which would consume the same changes several times", "append"),
    "differential": (
        "computes its query at two points in the past, and a stream has but its changes",
        "append, apply_changes, or the stream's own query in the stream's place",
    ),
    "delete+insert": (
        "takes two commits, which cannot be one with the offset",
        "apply_changes, merge or replace_where",
    ),
}

_ASKS = re.compile(r"\{[{%](?:(?![}%]\}).)*\bis_incremental\s*\(", re.DOTALL)


def consumer_name(unique_id: str, config: Mapping[str, Any]) -> str:
    """The name by which a model's consumptions are known in its target's log: its unique id, or the config `consumer`,
    the one that it had before it was renamed.

    >>> consumer_name("model.shop.b", {}), consumer_name("model.shop.b", {"consumer": "model.shop.a"})
    ('streamspark/model.shop.b', 'streamspark/model.shop.a')
    """
    return f"{PREFIX}{config.get('consumer') or unique_id}"


def consumer_names(log: TableLog) -> list[str]:
    """Whoever has consumed into the table, by the checksum of its newest version or, where that does not tell, by
    its state, which costs a Spark job."""
    known = log.recorded_transactions()
    return sorted(name for name in (log.transactions() if known is None else known) if name.startswith(PREFIX))


def consumes(model: Mapping[str, Any]) -> bool:
    """Whether the node consumes what it reads; analyses, tests, hooks and inline queries only look.

    Raises ConsumptionRefused for a model that writes no table of its own, or not in one commit.
    """
    kind = model["resource_type"]
    if kind == "snapshot":
        raise _refused(model, "snapshot", WHY_NOT["snapshot"])
    if kind != "model":
        return False
    materialized = model["config"]["materialized"]
    if materialized not in CONSUMING:
        raise _refused(model, materialized, WHY_NOT.get(materialized, "it cannot commit an offset with its rows"))
    _check_strategy(model)
    return True


def asks_is_incremental(code: str) -> bool:
    """Whether a model's own text is another query in its first run than later.

    >>> [asks_is_incremental(text) for text in ("{%- if is_incremental() %} x {% endif %}", "-- is_incremental()")]
    [True, False]
    """
    return _ASKS.search(code) is not None


def check_differential(model: Mapping[str, Any]) -> None:
    """Raises ConsumptionRefused for a differential model that says itself which rows are new: as the whole of its query
    they would be all that it keeps."""
    if asks_is_incremental(str(model.get("raw_code"))):
        raise ConsumptionRefused(
            f"{model['unique_id']} has incremental_strategy='differential' and asks is_incremental(). Take that part "
            "out: the model is one query over all rows, and what changed in its result is found by the adapter."
        )


def _check_strategy(model: Mapping[str, Any]) -> None:
    strategy = model["config"].get("incremental_strategy")
    if model["config"]["materialized"] == "incremental" and strategy in REFUSED_STRATEGIES:
        why, instead = REFUSED_STRATEGIES[strategy]
        raise ConsumptionRefused(
            f"{model['unique_id']} cannot consume a stream with incremental_strategy='{strategy}': it {why}. "
            f"Use {instead}."
        )


def _refused(model: Mapping[str, Any], materialized: str, why: str) -> ConsumptionRefused:
    return ConsumptionRefused(
        f"{model['unique_id']} is materialized as {materialized} and cannot consume a stream: {why}. "
        "Use materialized='incremental' or 'table', or look at the pending changes with ref() instead of stream()."
    )
