"""What a process needs that is killed with its Spark: imported by those that are started on their own."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession


def die() -> None:
    os.killpg(0, signal.SIGKILL)


def start_spark(scratch: Path) -> SparkSession:
    confs = {
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": str(scratch),
        "spark.sql.shuffle.partitions": "1",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.driver.host": "127.0.0.1",
    }
    builder = SparkSession.builder
    for key, value in confs.items():
        builder = builder.config(key, value)
    return configure_spark_with_delta_pip(builder).getOrCreate()
