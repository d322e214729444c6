"""Applies the table of skips."""

from __future__ import annotations

import pytest

from tests.conformance.skips import SKIPS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        reason = SKIPS.get(item.parent.name if item.parent else "")
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))
