"""Where the archive of Spark's classes is, from which a JVM starts in half the time (decision 0044). No dbt import."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pyspark

TAKE_IT = "-XX:SharedArchiveFile="


def class_archive(java: str | None) -> Path:
    """The archive for this `java`, a command, and this PySpark, whether it is there or not: a JVM takes none that was
    made by another Java or of other jars."""
    of = "\n".join((os.path.realpath(java or ""), os.path.realpath(pyspark.__file__), pyspark.__version__))
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache, "dbt-streamspark", f"classes-{hashlib.sha256(of.encode()).hexdigest()[:16]}.jsa")
