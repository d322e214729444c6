"""Consecutive commits under one schema: files of an epoch can be read in one scan."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from dbt.adapters.streamspark.changes.log import Commit


def epochs(commits: Sequence[Commit]) -> list[tuple[int, list[Commit]]]:
    """(version whose schema holds, commits), oldest first. A new epoch begins with each metadata change."""
    starts: list[int] = []
    for commit in commits:
        starts.append(commit.version if commit.metadata or not starts else starts[-1])
    grouped = groupby(zip(starts, commits, strict=True), key=lambda pair: pair[0])
    return [(start, [commit for _, commit in pairs]) for start, pairs in grouped]
