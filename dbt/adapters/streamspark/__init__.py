"""dbt adapter for streams on Spark and Delta Lake.

`Plugin` is made when dbt asks for it, so that `dbt.adapters.streamspark.changes` works in a notebook without
importing dbt-core.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "Plugin":
        from dbt.adapters.streamspark.plugin import Plugin

        return Plugin
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
