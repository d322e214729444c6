"""dbt run-operation show_channels, describe_channel, drop_channel, expire_channels: as text and as JSON."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from dbt.tests.util import run_dbt_and_capture
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.ingest.client import StreamingIngestClient
from tests.functional.projects import World

FIELDS = ["created_on", "name", "database_name", "schema_name", "table_name", "client_sequencer", "row_sequencer"]
FIELDS.append("offset_token")
OLD = time.time() - 31 * 24 * 3600


def said(capsys: Any, operation: str, passes: bool = True, **args: Any) -> str:
    """What the operation prints; of one that fails, dbt's log."""
    capsys.readouterr()
    command = ["run-operation", operation, "--args", json.dumps(args)]
    results, log = run_dbt_and_capture(command, expect_pass=None)
    assert ([one.status for one in results.results] == ["success"]) == passes, log
    return str(log)


def printed(log: str) -> Any:
    return json.loads(next(line for line in log.splitlines() if line.startswith("{")))


class TestChannelOperations:
    @pytest.fixture(scope="class")
    def world(self, project: Any, spark: SparkSession) -> World:
        world = World(project, spark)
        world.sql(
            "create table {raw}.events (id int, v string) using delta", "create view {raw}.seen as select 1 as id"
        )
        table = f"{world.raw}.events"
        with StreamingIngestClient(world.spark, "old app", table, clock=lambda: OLD) as client:
            client.open_channel("idle")
        with StreamingIngestClient(world.spark, "app", table) as client:
            channel, _ = client.open_channel("a", on_error="continue")
            channel.append_rows([{"id": 1}, {"id": "x"}], end_offset_token="log:2")
        return world

    def test_operations(self, world: World, capsys: Any) -> None:
        table = f"{world.raw}.events"
        shown = printed(said(capsys, "show_channels", schema=world.raw, format="json"))["channels"]
        assert [list(row) for row in shown] == [FIELDS]
        found = {key: shown[0][key] for key in FIELDS[1:]}
        assert list(found.values()) == ["a", "", world.raw, "events", 1, 1, "log:2"]
        assert printed(said(capsys, "show_channels", table=table, format="json")) == {"channels": shown}
        text = said(capsys, "show_channels", table=table)
        assert "created_on" in text and "log:2" in text and "idle" not in text
        described = printed(said(capsys, "describe_channel", table=table, channel="a", format="json"))
        assert (described["rows_inserted_count"], described["rows_error_count"], described["client"]) == (1, 1, "app")
        assert "offset_token" in said(capsys, "describe_channel", table=table, channel="a")
        expired = printed(said(capsys, "expire_channels", schema=world.raw, format="json"))
        assert expired == {"expired": [{"table_name": table, "name": "idle"}]}
        assert printed(said(capsys, "expire_channels", schema=world.raw, format="json")) == {"expired": []}
        assert printed(said(capsys, "drop_channel", table=table, channel="a", format="json"))["dropped"] == "a"
        assert "none" in said(capsys, "show_channels", table=table)

    def test_errors(self, world: World, capsys: Any) -> None:
        table = f"{world.raw}.events"
        assert "has no channel z" in said(capsys, "describe_channel", passes=False, table=table, channel="z")
        assert "has no channel z" in said(capsys, "drop_channel", passes=False, table=table, channel="z")
        assert "format = 'xml' is not allowed. Allowed: text, json." in said(
            capsys, "show_channels", passes=False, format="xml"
        )
