"""The table that channels land in: opened, refused where it cannot be one, and made to keep what channels need."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.errors import BrokenSource, InvalidQuery, MissingSource
from dbt.adapters.streamspark.ingest.columns import Column, columns_of
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.spark_errors import as_sql_error, denial, is_conflict

FEATURE = "domainMetadata"


@dataclass(frozen=True)
class LandingTable:
    """`layout` is what must stay for a row that was checked to fit: the schema and the partitions."""

    name: str
    log: TableLog = field(repr=False)
    schema: StructType
    columns: tuple[Column, ...]
    layout: str


def landing_table(spark: SparkSession, name: str) -> LandingTable:
    """Raises StreamingIngestError: TableNotFound, UnsupportedTable (a view, not Delta, another catalog, a column or
    constraint that channels cannot fill), NoPermission."""
    _check_is_table(spark, name)
    log = _open(spark, name)
    metadata = _metadata(log)
    _check_constraints(name, metadata["configuration"])
    schema = StructType.fromJson(json.loads(metadata["schemaString"]))
    return LandingTable(name, log, schema, columns_of(name, schema), layout_of(metadata))


def layout_of(metadata: dict[str, Any]) -> str:
    """Of a metaData action."""
    return json.dumps([json.loads(metadata["schemaString"]), metadata["partitionColumns"], metadata["id"]])


def keep_channels(log: TableLog) -> None:
    """Lets the table keep metadata of its writers, which raises its writer protocol (readers are not concerned).

    Raises StreamingIngestError (NoPermission), or SqlError.
    """
    if FEATURE in (json.loads(log.snapshot().protocol().json())["protocol"].get("writerFeatures") or []):
        return
    try:
        log.spark.sql(f"ALTER TABLE {log.name} SET TBLPROPERTIES ('delta.feature.{FEATURE}' = 'supported')")
    except (PySparkException, Py4JJavaError) as error:
        if not is_conflict(error):  # else another client does the same just now
            raise not_permitted(log.name, error) or as_sql_error(error) from error
    log.refresh()


def not_permitted(table: str, error: BaseException) -> StreamingIngestError | None:
    """The error to raise where the storage has refused access, None where it has not."""
    said = str(error) if isinstance(error, BrokenSource) else denial(error)
    if said is None:
        return None
    return StreamingIngestError(
        "NoPermission",
        f"table {table} may not be written ({said}). Give the user that Spark runs as write access to the table's "
        "directory and log, and open the channel again.",
    )


def _check_is_table(spark: SparkSession, name: str) -> None:
    if name.startswith("delta.`"):
        return
    try:
        described = spark.sql(f"describe extended {name}").collect()
    except AnalysisException as error:
        raise _unknown(name) from error
    kind = next((row["data_type"] for row in reversed(described) if row["col_name"] == "Type"), "VIEW")
    if kind == "VIEW":  # and of a temporary one no type is told
        raise StreamingIngestError("UnsupportedTable", f"{name} is a view: open the channel on the table below it.")


def _unknown(name: str) -> StreamingIngestError:
    return StreamingIngestError(
        "TableNotFound", f"table {name} does not exist: CREATE TABLE {name} (...) USING DELTA, then open the channel."
    )


def _open(spark: SparkSession, name: str) -> TableLog:
    try:
        return TableLog(spark, name)
    except MissingSource as error:
        if "is not a Delta table" not in str(error):
            raise _unknown(name) from error
        raise StreamingIngestError("UnsupportedTable", f"{error}. Channels land in Delta tables only.") from error
    except BrokenSource as error:
        raise not_permitted(name, error) or error from error
    except InvalidQuery as error:
        raise StreamingIngestError("UnsupportedTable", str(error)) from error


def _metadata(log: TableLog) -> dict[str, Any]:
    return dict(json.loads(log.snapshot().metadata().json())["metaData"])


def _check_constraints(name: str, properties: dict[str, str]) -> None:
    found = [key.removeprefix("delta.constraints.") for key in properties if key.startswith("delta.constraints.")]
    if found:
        raise StreamingIngestError(
            "UnsupportedTable",
            f"table {name} has the CHECK constraint {', '.join(found)}: one row against it would hold up the rows of "
            "all channels. Land the rows in a table without it and check them from there.",
        )
