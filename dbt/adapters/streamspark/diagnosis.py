"""What `dbt debug` tells about the Spark that dbt runs on. No dbt import."""

from __future__ import annotations

import uuid
from typing import Any

from dbt.adapters.streamspark.class_archive import TAKE_IT
from dbt.adapters.streamspark.launch import delta_version, java_command
from dbt.adapters.streamspark.session import Session
from dbt.adapters.streamspark.spark_errors import SqlError

WORKS = "works (tried on a table that was dropped again)"
NO_ARCHIVE = "none; `python -m dbt.adapters.streamspark.archive_classes` makes one, from which Spark starts sooner"


def facts(session: Session) -> list[tuple[str, str]]:
    """(what, how it is) for Spark, Delta, Java, its archive of classes, the warehouse and row tracking.

    Raises SqlError if none answers.
    """
    session.execute("select 1 as id")
    jvm: Any = session.spark._jvm
    java = jvm.java.lang.System.getProperty
    return [
        ("spark", f"{session.spark.version}, {session.spark.sparkContext.master}"),
        ("delta", delta_version()),
        ("java", f"{java('java.version')} ({java_command() or java('java.home')})"),
        ("class archive", class_archive_of(jvm)),
        ("warehouse", str(session.spark.conf.get("spark.sql.warehouse.dir")).removeprefix("file:")),
        ("row tracking", row_tracking(session)),
    ]


def class_archive_of(jvm: Any) -> str:
    """That which the JVM was told to take, if it fits, or how to have one."""
    told = jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()
    return next((option.removeprefix(TAKE_IT) for option in told if option.startswith(TAKE_IT)), NO_ARCHIVE)


def row_tracking(session: Session) -> str:
    """WORKS, or what failed when a table with row tracking was made, changed and read."""
    name = f"default.streamspark_debug_{uuid.uuid4().hex}"
    try:
        session.execute(
            f"create table {name} using delta tblproperties ('delta.enableRowTracking' = 'true') as select 1 as id"
        )
        session.execute(f"update {name} set id = 2")
        rows = session.execute(f"select _metadata.row_id, _metadata.row_commit_version from {name}").fetchall()
        return WORKS if rows == [(0, 1)] else f"gives wrong row ids: {rows}"
    except SqlError as error:
        return f"does not work: {error}"
    finally:
        session.execute(f"drop table if exists {name}")
