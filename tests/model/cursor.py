"""Where the consumer stands, resolved as consume/cursor.py does it: from the newest commit down."""

from __future__ import annotations

from tests.model.world import CONSUME, REPLACE, RESTORE, Commit, Cursor, Unknown, World


def resolve(world: World, guards: frozenset[str]) -> Cursor:
    """Raises Unknown where the log does not tell."""
    live, replaced = world.head, False
    for version in range(world.head, -1, -1):
        if version < world.cleaned:
            return _log_ends(world, guards)
        commit = world.log[version]
        if version > live:
            continue
        if commit.kind == CONSUME:
            return _consumption(world, version, replaced, guards)
        if commit.kind == RESTORE and "restore" in guards:
            live = commit.restored
        replaced = replaced or (commit.kind == REPLACE and "replaced" in guards)
    return Cursor(_number(world, 0, guards), 0)


def _consumption(world: World, version: int, replaced: bool, guards: frozenset[str]) -> Cursor:
    commit = world.log[version]
    if replaced:
        raise Unknown("the table was replaced since")
    if "seen" in guards and rewound(world, commit.seen, version):
        raise Unknown("a RESTORE came between plan and commit")
    return Cursor(_number(world, commit.txn, guards), commit.reached)


def _number(world: World, found: int, guards: frozenset[str]) -> int:
    return world.stored if "above" in guards else found


def _log_ends(world: World, guards: frozenset[str]) -> Cursor:
    """Only the transaction outlives the log."""
    stored = world.stored if "txn kept" in guards else 0
    if stored and "log end" in guards:
        raise Unknown("the log is cleaned away")
    return Cursor(stored, 0)


def rewound(world: World, seen: int | None, before: int) -> bool:
    """Whether a commit in (seen, before) took the table to another state, or is cleaned away and may have."""
    if seen is None:
        return False
    between = range(seen + 1, before)
    return any(version < world.cleaned or _rewinds(world.log[version]) for version in between)


def _rewinds(commit: Commit) -> bool:
    return commit.kind in (RESTORE, REPLACE)
