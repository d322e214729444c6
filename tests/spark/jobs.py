"""Counts the Spark jobs that a block of code runs, or that the process has run."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import SparkSession


@dataclass
class Jobs:
    count: int = 0


@contextmanager
def jobs_of(spark: SparkSession) -> Iterator[Jobs]:
    """`count` holds the number of jobs of this thread when the block ends."""
    context, group, jobs = spark.sparkContext, uuid.uuid4().hex, Jobs()
    context.setJobGroup(group, "counted")
    try:
        yield jobs
    finally:
        context._jsc.sc().listenerBus().waitUntilEmpty()
        jobs.count = len(context.statusTracker().getJobIdsForGroup(group))
        context._jsc.sc().clearJobGroup()


def jobs_so_far(spark: SparkSession) -> int:
    """The number of jobs that all threads have started; what dbt runs, it runs on a thread of its own."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs())
