"""Spark confs for the length of a block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def session_confs(spark: SparkSession, confs: Mapping[str, str]) -> Iterator[None]:
    """Within the block the session has these confs; whatever happens they go back to what they were."""
    before = {key: spark.conf.get(key, None) for key in confs}
    try:
        for key, value in confs.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            _put_back(spark, key, old)


def _put_back(spark: SparkSession, key: str, old: str | None) -> None:
    if old is None:
        spark.conf.unset(key)
    else:
        spark.conf.set(key, old)
