"""Delta's jars, which Spark's resolver (Ivy) fetches at the first start on a machine. No dbt import."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pyspark import SparkConf

from dbt.adapters.streamspark.errors import LaunchError

DOWNLOADING = "Downloading Delta's jars, the first time only; this takes a minute or two."
LOCK = ".dbt-streamspark.lock"


@contextmanager
def fetched(conf: SparkConf, notify: Callable[[str], None]) -> Iterator[None]:
    """Around the start of a JVM that fetches the jars which `conf` names, where they are missing: one process at a
    time, since two that fill Ivy's cache spoil it for each other, and neither starts. The lock ends with its process.

    `notify` gets the one line that is said before a download, or before waiting for another's. Raises LaunchError where
    Ivy's directory cannot be written.
    """
    ivy = Path(conf.get("spark.jars.ivy", None) or os.path.expanduser("~/.ivy2.5.2"))
    if _are_in(ivy, conf):
        yield
        return
    notify(DOWNLOADING)
    with _lock_of(ivy) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _are_in(ivy: Path, conf: SparkConf) -> bool:
    packages = (package.split(":") for package in (conf.get("spark.jars.packages") or "").split(","))
    names = (f"{'_'.join(parts[:2])}-{'-'.join(parts[2:])}.jar" for parts in packages)
    return all(Path(ivy, "jars", name).exists() for name in names)


def _lock_of(ivy: Path) -> IO[str]:
    try:
        ivy.mkdir(parents=True, exist_ok=True)
        return open(ivy / LOCK, "w")
    except OSError as error:
        raise LaunchError(
            f"Delta's jars cannot be put into {ivy} ({error.strerror or error}). Give the user that dbt runs as write "
            "access to it, or name another directory with spark.jars.ivy under spark_config in the profile."
        ) from error
