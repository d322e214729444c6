"""What a consumption writes into its commit's `commitInfo.userMetadata`.

{"streamspark": {"v": 1, "consumer": ..., "n": ..., "attempt": ..., "invocation": ...,
                 "seen": target version at planning or null, "action": what it was, where it was no run of the model,
                 "begun": of a model that chooses by cost, consume/costs.py,
                 "made": of a differential model, consume/made.py,
                 "streams": {stream id: {"name": ..., "from": frontier or null, "to": frontier,
                                         "query": the text read, streams/stored_query.py}}}}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.log import Commit
from dbt.adapters.streamspark.consume.costs import Begun, begun_from
from dbt.adapters.streamspark.consume.made import Made, made_from
from dbt.adapters.streamspark.errors import OffsetUnknown

FORMAT = 1


CONSUME = "consume"


@dataclass(frozen=True)
class Entry:
    """One stream's part: its `name` (empty where it was not read) and where the interval began (None: initial rows)."""

    name: str
    start: Frontier | None


@dataclass(frozen=True)
class Consumed:
    """One consumption as its commit tells it: `frontiers` maps stream id to the frontier reached, `queries` to the
    text read, `entries` to the rest; `seen` is the target's version at which it was planned (None: does not matter).
    `action` is CONSUME, or what an operation did (consume/move.py), `begun` what tells its costs, if it does, `made`
    what a differential target was made from."""

    consumer: str
    n: int
    attempt: str
    frontiers: Mapping[str, Frontier]
    seen: int | None = None
    queries: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, Entry] = field(default_factory=dict)
    action: str = CONSUME
    invocation: str = ""
    begun: Begun | None = None
    made: Made | None = None


def write(body: Mapping[str, Any]) -> str:
    """The JSON text of {"consumer", "n", "attempt", "invocation", "seen", "streams"}.

    It goes through a conf, where Spark would put a value of the environment in the place of `${env:NAME}`.
    """
    return json.dumps({"streamspark": {"v": FORMAT, **body}}, sort_keys=True).replace("${", "\\u0024{")


def read(commit: Commit, consumer: str) -> Consumed | None:
    """The consumption of `consumer` that `commit` is, or None.

    A commit that carries the metadata without the transaction is not the consumption itself but one that
    Delta made in its wake (auto compaction runs inside the same statement). Raises OffsetUnknown for
    metadata of a later release of this package.
    """
    body = _body(commit)
    if body is None or body.get("consumer") != consumer or commit.txns.get(consumer) != body.get("n"):
        return None
    if body["v"] != FORMAT:
        raise OffsetUnknown(
            f"version {commit.version} of the target was written by a later release (metadata format "
            f"{body['v']}, known is {FORMAT}): upgrade dbt-streamspark to go on with {consumer}."
        )
    frontiers = {key: Frontier.from_dict(entry["to"]) for key, entry in body["streams"].items()}
    queries = {key: str(entry["query"]) for key, entry in body["streams"].items() if "query" in entry}
    return Consumed(
        consumer=consumer,
        n=int(body["n"]),
        attempt=str(body["attempt"]),
        frontiers=frontiers,
        seen=body.get("seen"),
        queries=queries,
        entries={key: _entry(entry) for key, entry in body["streams"].items()},
        action=str(body.get("action") or CONSUME),
        invocation=str(body.get("invocation") or ""),
        begun=begun_from(body["begun"]) if "begun" in body else None,
        made=made_from(body["made"]) if "made" in body else None,
    )


def _entry(entry: Mapping[str, Any]) -> Entry:
    since = entry.get("from")
    return Entry(str(entry.get("name") or ""), None if since is None else Frontier.from_dict(since))


def _body(commit: Commit) -> dict[str, Any] | None:
    text = commit.info.get("userMetadata")
    if not text:
        return None
    try:
        found = json.loads(text)
    except ValueError:  # somebody's own text, which is no business of ours
        return None
    body = found.get("streamspark") if isinstance(found, dict) else None
    return body if isinstance(body, dict) else None
