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

DOWNLOADING = "Downloading Delta's jars, the first time only; this may take a minute."
LOCK = ".dbt-streamspark.lock"
# Delta names these too, in other versions: 76 of 89 MB, which each start would copy, and of which Spark takes no class,
# since it looks among its own jars first (decision 0045).
SPARK_HAS = (
    "com.fasterxml.jackson.core:jackson-annotations",
    "com.fasterxml.jackson.core:jackson-core",
    "com.fasterxml.jackson.core:jackson-databind",
    "com.github.luben:zstd-jni",
    "com.google.code.findbugs:jsr305",
    "commons-pool:commons-pool",
    "io.airlift:aircompressor",
    "org.apache.hadoop:hadoop-client-api",
    "org.apache.hadoop:hadoop-client-runtime",
    "org.apache.logging.log4j:log4j-api",
    "org.apache.logging.log4j:log4j-core",
    "org.apache.logging.log4j:log4j-slf4j2-impl",
    "org.apache.parquet:parquet-column",
    "org.apache.parquet:parquet-common",
    "org.apache.parquet:parquet-encoding",
    "org.apache.parquet:parquet-format-structures",
    "org.apache.parquet:parquet-hadoop",
    "org.apache.parquet:parquet-jackson",
    "org.locationtech.jts:jts-core",
    "org.roaringbitmap:RoaringBitmap",
    "org.slf4j:slf4j-api",
    "org.xerial.snappy:snappy-java",
)


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
