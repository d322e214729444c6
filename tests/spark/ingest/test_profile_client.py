"""The client from a dbt profile and target."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.profile_client import client_from_profile
from tests.consuming import rows

PROFILES = """
shop:
  target: dev
  outputs:
    dev: {type: streamspark, schema: "{{ env_var('INGEST_TEST_SCHEMA') }}"}
    wrong: {type: streamspark, schema: x, method: telnet}
"""


def test_a_client_from_a_profile(session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "profiles.yml").write_text(PROFILES)
    monkeypatch.setenv("INGEST_TEST_SCHEMA", "ingest_profile")
    session.sql("create schema ingest_profile")
    session.sql("create table ingest_profile.events (id int) using delta")
    with client_from_profile("app", "shop", table="events", project_dir=tmp_path, max_client_lag=600) as client:
        client.open_channel("a")[0].append_row({"id": 1}, "1")
    assert rows(session, "ingest_profile.events") == [(1,)]
    session.sql("drop schema ingest_profile cascade")
    with pytest.raises(Exception, match="has no profile other, only shop"):
        client_from_profile("app", "other", project_dir=tmp_path)
    with pytest.raises(Exception, match="`method: telnet` is unknown"):
        client_from_profile("app", "shop", "wrong", project_dir=tmp_path)
