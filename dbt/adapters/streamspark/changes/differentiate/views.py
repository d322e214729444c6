"""DataFrames under names that SQL can use, for as long as one change query is put together."""

from __future__ import annotations

import re
import uuid
from contextlib import AbstractContextManager
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.temp_view import drop_temp_view, temp_view


class Views(AbstractContextManager["Views"]):
    """What is analysed inside the block may read the views; a DataFrame made there keeps what it read."""

    def __init__(self, spark: SparkSession):
        self.spark = spark
        self._names: list[str] = []

    def add(self, frame: DataFrame, name: str = "", what: str = "rows") -> str:
        """The name of a temporary view of `frame`: `name`, or one that says `what` it is."""
        name = name or f"__{re.sub('[^A-Za-z0-9]', '_', what)}_{uuid.uuid4().hex[:12]}"
        temp_view(frame, name)
        self._names.append(name)
        return name

    def __exit__(self, *_: Any) -> None:
        for name in self._names:
            drop_temp_view(self.spark, name)
