"""A target's log, read from its files by nothing of ours and nothing of Delta's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A consumption as its commit has it: `version` of the target, `start` (None: from the beginning) and `end` of the
    one base table's interval, `files` added. `n` is what its offset says, `transactions` what Delta knows it by."""

    version: int
    n: int
    transactions: tuple[int, ...]
    attempt: str
    start: int | None
    end: int
    files: tuple[str, ...]


def consumptions(table: Path, consumer: str) -> list[Entry]:
    """All of them, oldest first."""
    files = sorted((table / "_delta_log").glob("*.json"))
    return [entry for file in files for entry in _entries(file, consumer)]


def _entries(file: Path, consumer: str) -> Iterator[Entry]:
    actions = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
    numbers = tuple(action["txn"]["version"] for action in actions if action.get("txn", {}).get("appId") == consumer)
    said = _said(actions)
    if said is None or said["consumer"] != consumer:
        return
    [stream] = said["streams"].values()
    files = tuple(action["add"]["path"] for action in actions if "add" in action)
    start, end = _version(stream["from"]), _version(stream["to"])
    assert end is not None
    yield Entry(int(file.stem), said["n"], numbers, said["attempt"], start, end, files)


def _said(actions: list[dict[str, Any]]) -> dict[str, Any] | None:
    texts = [action["commitInfo"].get("userMetadata") for action in actions if "commitInfo" in action]
    return json.loads(texts[0])["streamspark"] if texts and texts[0] else None


def _version(frontier: dict[str, Any] | None) -> int | None:
    return None if frontier is None else next(iter(frontier["tables"].values()))["version"]
