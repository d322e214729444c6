"""A landing table, and clients that write to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.ingest.client import StreamingIngestClient
from tests.consuming import path_table

Clients = Callable[..., StreamingIngestClient]


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    return spark.newSession()


@pytest.fixture
def table(session: SparkSession, tmp_path: Path) -> str:
    name = path_table(tmp_path, "events")
    session.sql(f"create table {name} (id bigint not null, v string) using delta")
    return name


@pytest.fixture
def make_client(session: SparkSession, table: str) -> Iterator[Clients]:
    """Clients whose rows wait for a flush that is asked for."""
    made: list[StreamingIngestClient] = []

    def make(name: str = "client", table: str | None = table, **options: Any) -> StreamingIngestClient:
        made.append(StreamingIngestClient(session.newSession(), name, table, **{"max_client_lag": 600, **options}))
        return made[-1]

    yield make
    for client in made:
        client.close(wait_for_flush=False)
