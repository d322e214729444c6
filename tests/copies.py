"""Delta tables made once and copied for every test that changes them: a copy takes milliseconds, a commit most of a second."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

HADOOP_CHECKSUMS = ".*.crc"


def copied(made: Path, to: Path) -> Path:
    """The tables in the directory `made` under `to`, as if they had been made there: their logs name that path. Returns `to`."""
    shutil.copytree(made, to, ignore=shutil.ignore_patterns(HADOOP_CHECKSUMS), dirs_exist_ok=True)
    for file in to.glob("**/_delta_log/*.json"):
        file.write_text(file.read_text().replace(str(made), str(to)))
    return to


def made_once(
    spark: SparkSession, folders: pytest.TempPathFactory, statements: Callable[[str, str], Sequence[str]]
) -> Callable[[str], Path]:
    """What gives the table of a kind, made by the `statements` of that kind and the table's name."""

    @cache
    def make(kind: str) -> Path:
        path = folders.mktemp("made") / "table"
        for sql in statements(kind, f"delta.`{path}`"):
            spark.sql(sql)
        return path

    return make
