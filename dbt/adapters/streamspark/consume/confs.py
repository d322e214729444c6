"""The session confs that make Delta write a consumption's transaction and metadata into a commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.session_confs import session_confs
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.steps import step

APP_ID = "spark.databricks.delta.write.txnAppId"
TXN_VERSION = "spark.databricks.delta.write.txnVersion"
USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
# CHAR columns are padded in the files; where they are padded while they are read, too, Delta 4.4 cannot put a MERGE of
# them together.
CHAR_PADDING = "spark.sql.readSideCharPadding"
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
        CHAR_PADDING: "false",
        **({SOURCE_COPIES: "none"} if consumption.is_kept else {}),
    }
    with session_confs(spark, confs):
        step("set_confs")
        yield
