"""A smaller Hadoop configuration: Spark copies all of it for each log and each file scan that it plans, and sends it to
the tasks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.java_names import java_names

# Two thirds of all entries: what the daemons of YARN and MapReduce, and the jobs that they run, take for granted.
OF_JOBS = frozenset({"yarn-default.xml", "mapred-default.xml"})
# But for what the file formats and committers read that Spark has from MapReduce.
OF_WRITERS = re.compile("input|output|committer")
_LOADS_THEM = "org.apache.hadoop.mapred.JobConf"


def drop_job_defaults(spark: SparkSession) -> list[str]:
    """Takes what only jobs of YARN and MapReduce read out of the session's Hadoop configuration; returns the names.

    For a Spark in this process, which runs neither. What a site file, the profile or anybody else has set stays.
    """
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    java_names(spark).java.lang.Class.forName(_LOADS_THEM)  # else they come back with it
    names = job_defaults(entries(spark, conf))
    for name in names:
        conf.unset(name)
    return names


def entries(spark: SparkSession, conf: Any) -> list[dict[str, Any]]:
    """All of a Hadoop configuration (py4j): `key`, `value`, `resource`."""
    jvm = java_names(spark)
    text = jvm.java.io.StringWriter()
    jvm.org.apache.hadoop.conf.Configuration.dumpConfiguration(conf, text)
    return list(json.loads(text.toString())["properties"])


def job_defaults(entries: Iterable[Mapping[str, object]]) -> list[str]:
    """The names of entries (`key`, and `resource`: the file they are from) that only jobs read.

    >>> job_defaults([{"key": "yarn.acl.enable", "resource": "yarn-default.xml"},
    ...     {"key": "yarn.admin.acl", "resource": "yarn-site.xml"},
    ...     {"key": "mapreduce.outputcommitter.factory.scheme.s3a", "resource": "mapred-default.xml"}])
    ['yarn.acl.enable']
    """
    return [
        key
        for key, file in ((str(entry["key"]), entry["resource"]) for entry in entries)
        if file in OF_JOBS and not OF_WRITERS.search(key)
    ]
