"""What a consumption writes into its commit's `commitInfo.userMetadata`.

{"streamspark": {"v": 1, "consumer": ..., "n": ..., "attempt": ..., "invocation": ...,
                 "seen": target version at planning or null,
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
from dbt.adapters.streamspark.errors import OffsetUnknown

FORMAT = 1


@dataclass(frozen=True)
class Consumed:
    """One consumption as its commit tells it: `frontiers` maps stream id to the frontier reached, `queries` to the
    text read, `seen` is the target's version at which it was planned (None: does not matter)."""

    consumer: str
    n: int
    attempt: str
    frontiers: Mapping[str, Frontier]
    seen: int | None = None
    queries: Mapping[str, str] = field(default_factory=dict)


def write(body: Mapping[str, Any]) -> str:
    """The JSON text of {"consumer", "n", "attempt", "invocation", "seen", "streams"}."""
    return json.dumps({"streamspark": {"v": FORMAT, **body}}, sort_keys=True)


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
    return Consumed(consumer, int(body["n"]), str(body["attempt"]), frontiers, body.get("seen"), queries)


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
