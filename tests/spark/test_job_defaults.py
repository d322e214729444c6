"""The Hadoop configuration of a session that the adapter has started."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.drop_job_defaults import OF_JOBS, drop_job_defaults, entries, job_defaults

SET_BY_US = "yarn.nodemanager.hostname"


@pytest.fixture
def conf(spark: SparkSession) -> Any:
    return spark.sparkContext._jsc.hadoopConfiguration()


def test_what_only_jobs_read_is_gone_and_stays_gone(spark: SparkSession, conf: Any) -> None:
    spark.sql("create or replace table default.of_no_job as select 1 as a")
    spark.sql("update default.of_no_job set a = 2")
    assert spark.table("default.of_no_job").first() == (2,)
    copied = spark._jsparkSession.sessionState().newHadoopConf()
    for one in (conf, copied):
        found = entries(spark, one)
        assert job_defaults(found) == []
        assert {entry["resource"] for entry in found} >= {"core-default.xml"}


def test_what_committers_and_file_formats_read_is_there(spark: SparkSession, conf: Any) -> None:
    kept = [entry["key"] for entry in entries(spark, conf) if entry["resource"] in OF_JOBS]
    assert "mapreduce.outputcommitter.factory.scheme.s3a" in kept
    assert "mapreduce.input.fileinputformat.split.minsize" in kept


def test_what_somebody_has_set_stays(spark: SparkSession, conf: Any) -> None:
    conf.reloadConfiguration()
    conf.set(SET_BY_US, "here")
    try:
        dropped = drop_job_defaults(spark)
        assert len(dropped) > 500
        assert SET_BY_US not in dropped
        assert conf.get(SET_BY_US) == "here"
    finally:
        conf.unset(SET_BY_US)
