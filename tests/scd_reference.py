"""What a table of apply_changes must hold, in plain Python: every event of a key, in its order, one after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Values = dict[str, Any]


@dataclass(frozen=True)
class Event:
    """`values` None: a delete. `given`: the columns that it sets, None: all of them."""

    key: Any
    seq: Any
    values: Mapping[str, Any] | None = None
    given: frozenset[str] | None = None


@dataclass
class Version:
    values: Values
    begins: Any
    ends: Any = None
    deleted: bool = False


@dataclass
class Key:
    """The history of one key so far."""

    tracked: tuple[str, ...]
    nothing: Values
    soft: bool
    versions: list[Version] = field(default_factory=list)
    alive: Values | None = None

    def happens(self, event: Event) -> None:
        if event.values is None:
            self.deleted(event.seq)
            return
        before, given = self.alive, event.given
        kept = before or self.nothing
        after = {name: kept[name] if given is not None and name not in given else event.values[name] for name in kept}
        if before is not None and all(before[name] == after[name] for name in self.tracked):
            self.versions[-1].values = after
        else:
            self.begins(Version(after, event.seq))
        self.alive = after

    def deleted(self, seq: Any) -> None:
        last = self.versions[-1] if self.versions else None
        if self.soft and not (last and last.deleted):
            self.begins(Version(dict(last.values) if last else dict(self.nothing), seq, deleted=True))
        elif not self.soft and self.alive is not None and last is not None:
            last.ends = seq
        self.alive = None

    def begins(self, version: Version) -> None:
        if self.versions and self.versions[-1].ends is None:
            self.versions[-1].ends = version.begins
        self.versions.append(version)


def histories(
    events: Iterable[Event], columns: tuple[str, ...], tracked: tuple[str, ...] | None = None, soft: bool = False
) -> dict[Any, list[Version]]:
    """Key -> its versions, oldest first; a key of which only deletes are known has none, unless they are soft."""
    found: dict[Any, Key] = defaultdict(lambda: Key(tracked or columns, dict.fromkeys(columns), soft))
    for event in sorted(events, key=lambda event: event.seq):
        found[event.key].happens(event)
    return {key: one.versions for key, one in found.items()}
