"""The session confs that make Delta write a consumption's transaction and metadata into a commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.steps import step

APP_ID = "spark.databricks.delta.write.txnAppId"
TXN_VERSION = "spark.databricks.delta.write.txnVersion"
USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
# MERGE reads its source twice, and first writes it down unless it is a Delta table's plain rows.
SOURCE_COPIES = "spark.databricks.delta.merge.materializeSource"


@contextmanager
def consumption_confs(spark: SparkSession, consumption: Consumption) -> Iterator[None]:
    """Within the block, the session's next write is the commit of `consumption`.

    Delta takes them for every write of the session, so whatever happens they go back to what they were.
    """
    confs = {
        APP_ID: consumption.consumer,
        TXN_VERSION: str(consumption.n),
        USER_METADATA: consumption.user_metadata(),
        **({SOURCE_COPIES: "none"} if consumption.is_kept else {}),
    }
    before = {key: spark.conf.get(key, None) for key in confs}
    try:
        for key, value in confs.items():
            spark.conf.set(key, value)
        step("set_confs")
        yield
    finally:
        for key, old in before.items():
            _put_back(spark, key, old)


def _put_back(spark: SparkSession, key: str, old: str | None) -> None:
    if old is None:
        spark.conf.unset(key)
    else:
        spark.conf.set(key, old)
