"""Small tables read as large ones are: what one task would do is split up between tasks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from unittest.mock import patch

endpoint_diff = import_module("dbt.adapters.streamspark.changes.readers.endpoint_diff")


@contextmanager
def large_files() -> Iterator[None]:
    with patch.object(endpoint_diff, "SMALL", 0):
        yield
