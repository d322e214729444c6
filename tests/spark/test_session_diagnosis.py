"""What `dbt debug` tells, and that it leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark import diagnosis
from dbt.adapters.streamspark.launch import LaunchOptions
from dbt.adapters.streamspark.session import Result, Session, thread_session
from dbt.adapters.streamspark.spark_errors import SqlError


@pytest.fixture
def session(spark: SparkSession, warehouse: Path) -> Session:
    return thread_session(LaunchOptions(warehouse=warehouse))


def test_the_facts_are_those_of_the_running_spark(session: Session, warehouse: Path) -> None:
    facts = dict(diagnosis.facts(session))
    assert facts["spark"].startswith(session.spark.version)
    assert facts["java"].startswith("17") or int(facts["java"].split(".")[0]) > 17
    assert facts["warehouse"] == str(warehouse)
    assert facts["row tracking"] == diagnosis.WORKS
    assert session.execute("show tables in default like 'streamspark_debug*'").fetchall() == []


def test_what_fails_is_said(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(sql: str) -> Result:
        if sql.startswith("create"):
            raise SqlError("[PERMISSION_DENIED] no", "PERMISSION_DENIED")
        return Result()

    monkeypatch.setattr(session, "execute", refuse)
    assert diagnosis.row_tracking(session) == "does not work: [PERMISSION_DENIED] no"
