"""Operations on the streams of document 003's examples: what they tell, by name, as JSON and as text, and how they end."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import ClassVar

import pytest
from dbt.tests.util import run_dbt_and_capture

from tests.functional.projects import READY, World, operate, run

SOURCES = """
version: 2
sources:
  - name: raw
    schema: "{{ target.schema }}_raw"
    tables: [{name: source_table}, {name: other}]
"""
DAY = 24 * 3600
KEEPS = "'delta.enableRowTracking' = 'true', 'delta.deletedFileRetentionDuration' = 'interval {} days'"
CONSUMER = "{{{{ config(materialized='incremental', {}) }}}} select * from {{{{ stream('my_stream') }}}}"
# document 003, DESC TABLE STREAM
DOCUMENTED = {
    "name", "creator", "created_time", "last_modified_time", "workspace", "base_tables", "stale", "offset",
    "current_offset_time", "current_offset_version",
}  # fmt: skip


class TestOperations:
    prepare = (
        f"create table {{raw}}.source_table (id int, val int) using delta {READY}",
        "insert into {raw}.source_table values (1, 100), (2, 200)",
        f"create table {{raw}}.other (id int) using delta {READY}",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        config = "{{ config(materialized='stream', metadata_columns='singdata', show_initial_rows=true) }}"
        return {
            "sources.yml": SOURCES,
            "my_stream.sql": config + " select * from {{ source('raw', 'source_table') }}",
            "quiet_stream.sql": "{{ config(materialized='stream', mode='append_only') }} "
            "select * from {{ source('raw', 'other') }}",
            "target.sql": CONSUMER.format("incremental_strategy='apply_changes', unique_key='id'"),
            "log.sql": CONSUMER.format("incremental_strategy='append'"),
            "totals.sql": "{{ config(materialized='changes', initial_rows=true) }} "
            "select count(*) as n, sum(val) as val from {{ source('raw', 'source_table') }}",
        }

    def test_a_stream_is_described_with_the_documents_fields(self, world: World) -> None:
        run("run", "--select", "my_stream", "quiet_stream")
        found, _ = operate("describe_stream", stream="my_stream")
        assert found.keys() >= DOCUMENTED
        assert (found["name"], found["workspace"]) == ("my_stream", world.schema)
        assert found["base_tables"] == [f"{world.raw}.source_table"]
        assert (found["stale"], found["current_offset_version"], found["consumers"]) == (False, 1, [])
        assert found["offset"] == f"version 1 of {world.raw}.source_table"
        assert found["creator"] and found["created_time"] <= found["last_modified_time"] < found["stale_after"]
        assert (found["mode"], found["start_version"], found["show_initial_rows"]) == ("standard", 1, True)
        assert found["base_table_details"][0]["keeps_files_days"] == 14

    def test_every_stream_is_shown(self, world: World) -> None:
        run("run", "--exclude", "my_stream", "quiet_stream")
        streams = {row["name"]: row for row in operate("show_streams")[0]["streams"]}
        mine, quiet = streams[f"{world.schema}.my_stream"], streams[f"{world.schema}.quiet_stream"]
        assert (mine["mode"], mine["base_tables"], mine["stale"]) == ("standard", [f"{world.raw}.source_table"], False)
        assert mine["consumers"] == [f"{world.schema}.log", f"{world.schema}.target"]
        assert (quiet["mode"], quiet["consumers"], quiet["offset"]) == ("append_only", [], [0])
        assert mine["stale_after"] and mine["invalid_reason"] == ""

    def test_a_stream_without_data_ends_as_a_failure(self, world: World) -> None:
        found, log = operate("stream_has_data", passes=False, stream="my_stream")
        assert (found["has_data"], found["consumers"][0]["shape"]) == (False, "EMPTY")
        assert f"stream {world.schema}.my_stream has no data" in log
        assert operate("stream_has_data", stream="my_stream", fail_when_empty=False)[0]["has_data"] is False

    def test_what_is_pending_is_told_and_not_consumed(self, world: World) -> None:
        world.sql("update {raw}.source_table set val = 999 where id = 1", "delete from {raw}.source_table where id = 2")
        before = len(world.commits("target"))
        assert operate("stream_has_data", stream="my_stream")[0]["has_data"] is True
        backlog, _ = operate("stream_backlog", stream="my_stream")
        seen = [
            (row["version"], row["operation"], row["rows_updated"], row["rows_deleted"]) for row in backlog["backlog"]
        ]
        assert seen == [(2, "UPDATE", 1, None), (3, "DELETE", None, 1)]
        assert (backlog["versions"], backlog["shape"]) == (2, "MINIMIZE")
        ((stream,),) = [operate("preview_consume", model="target")[0]["streams"]]
        assert (stream["inserts"], stream["updates"], stream["deletes"]) == (0, 1, 1)
        assert (stream["from_versions"], stream["to_versions"], stream["shape"]) == ([1], [3], "MINIMIZE")
        ((own,),) = [operate("preview_consume", model="totals")[0]["streams"]]
        assert (own["inserts"], own["updates"], own["deletes"]) == (0, 1, 0)
        assert len(world.commits("target")) == before

    def test_each_consumer_has_its_own_offset(self, world: World) -> None:
        run("run", "--select", "target")
        assert world.rows("select * from {dbt}.target") == [(1, 999)]
        found, _ = operate("describe_stream", stream="my_stream")
        consumers = {row["target"]: (row["consumption"], row["offset_version"]) for row in found["consumers"]}
        assert consumers == {f"{world.schema}.target": (2, 3), f"{world.schema}.log": (1, 1)}
        assert found["current_offset_version"] == 1
        operate("stream_has_data", passes=False, stream="my_stream", consumer="target")
        assert operate("stream_has_data", stream="my_stream", consumer="log")[0]["has_data"] is True
        assert operate("stream_backlog", stream="my_stream")[0]["consumer"] == f"{world.schema}.log"
        assert operate("stream_backlog", stream="my_stream", consumer="target")[0]["backlog"] == []

    def test_history_is_told_newest_first(self, world: World) -> None:
        found, _ = operate("consumer_history", model="target")
        table = f"{world.raw}.source_table"
        assert [(row["consumption"], row["action"], row["streams"]) for row in found["history"]] == [
            (2, "consume", [f"{world.schema}.my_stream: {table} versions (1, 3]"]),
            (1, "consume", [f"{world.schema}.my_stream: {table} initial rows at version 1"]),
        ]
        assert [(row["rows_updated"], row["rows_deleted"]) for row in found["history"]] == [(1, 1), (None, None)]
        assert len(operate("consumer_history", model="target", limit=1)[0]["history"]) == 1

    @pytest.mark.parametrize(
        "operation, arguments, said",
        [
            ("describe_stream", {"stream": "my_strem"}, "Did you mean my_stream or quiet_stream?"),
            ("stream_has_data", {"stream": "target"}, "is no stream. Streams: my_stream, quiet_stream."),
            ("stream_backlog", {"stream": "my_stream", "consumer": "totals"}, "has read nothing of"),
            ("preview_consume", {"model": "targett"}, "Did you mean target?"),
            ("consumer_history", {"model": "target", "limit": 0}, "limit = 0 is not allowed"),
            ("show_streams", {"schema": "nowhere"}, "schema nowhere does not exist."),
            ("describe_stream", {}, "describe_stream does not say stream."),
            ("preview_consume", {"model": "my_stream"}, "my_stream is a view."),
            ("drop_stream", {"stream": "my_stream", "force": "no"}, "force = 'no' is neither true nor false."),
        ],
    )  # fmt: skip
    def test_wrong_names_are_errors_that_help(
        self, world: World, operation: str, arguments: dict[str, object], said: str
    ) -> None:
        found, log = operate(operation, passes=False, **arguments)
        assert (found, said in log) == ({}, True), log

    def test_text_is_a_table(self, world: World) -> None:
        _results, log = run_dbt_and_capture(["run-operation", "show_streams"])
        lines = [line.split() for line in log.splitlines() if line.startswith("  ")]
        assert lines[0][:3] == ["name", "created_on", "mode"]
        assert {line[0] for line in lines[2:]} == {f"{world.schema}.my_stream", f"{world.schema}.quiet_stream"}
        arguments = json.dumps({"stream": "my_stream", "format": "jsn"})
        _results, log = run_dbt_and_capture(
            ["run-operation", "describe_stream", "--args", arguments], expect_pass=False
        )
        assert "format = 'jsn' is not allowed. Allowed: text, json. Did you mean json?" in log


class TestStaleAfter:
    """Document 000's table: days that a table keeps its past, days that a stream may extend that to, days until stale."""

    documented: ClassVar = {"fourteen": (14, 0, 14), "one": (1, 14, 14), "none": (0, 90, 90)}
    prepare = tuple(
        f"create table {{raw}}.{name} (id int) using delta tblproperties ({KEEPS.format(days)})"
        for name, (days, _extended, _stale) in documented.items()
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        tables = ", ".join(f"{{name: {name}}}" for name in self.documented)
        schema = "'{{ target.schema }}_raw'"
        return {
            "sources.yml": f"sources: [{{name: raw, schema: {schema}, tables: [{tables}]}}]",
            **{
                f"{name}_stream.sql": f"{{{{ config(materialized='stream', max_data_extension_days={extended}) }}}} "
                f"select * from {{{{ source('raw', '{name}') }}}}"
                for name, (_days, extended, _stale) in self.documented.items()
            },
        }

    def test_a_stream_goes_stale_when_the_longer_of_both_is_over(self, world: World) -> None:
        run("run")
        found = {row["name"].rpartition(".")[2]: row["stale_after"] for row in operate("show_streams")[0]["streams"]}
        now = datetime.now(timezone.utc)
        days = {name: (datetime.fromisoformat(after) - now).total_seconds() / DAY for name, after in found.items()}
        expected = {f"{name}_stream": stale for name, (_days, _extended, stale) in self.documented.items()}
        assert {name: round(value) for name, value in days.items()} == expected


class TestNamesAndHistories:
    """A schema that is written with capitals, which the catalog makes small; a consumer that does not know its offset."""

    prepare = (
        f"create table {{raw}}.source_table (id int, val int) using delta {READY}",
        "insert into {raw}.source_table values (1, 100)",
    )

    @pytest.fixture(scope="class")
    def unique_schema(self, prefix: str) -> str:
        return f"{prefix}_Upper"

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        config = "{{ config(materialized='stream', show_initial_rows=true) }}"
        return {
            "sources.yml": SOURCES,
            "my_stream.sql": config + " select * from {{ source('raw', 'source_table') }}",
            "log.sql": CONSUMER.format("incremental_strategy='append'"),
        }

    def test_a_consumer_is_found_by_its_model(self, world: World) -> None:
        run("run")
        world.sql("insert into {raw}.source_table values (2, 200)")
        found, text = operate("stream_has_data", stream="my_stream", consumer="log")
        assert found, text
        found, text = operate("advance_stream", stream="my_stream", consumer="log")
        assert found, text
        assert world.rows("select id from {dbt}.log") == [(1,)]

    def test_the_history_of_a_consumer_that_does_not_know_its_offset(self, world: World) -> None:
        world.sql("create or replace table {dbt}.log using delta as select * from {dbt}.log")
        assert "OffsetUnknown" in str(run("run", "--select", "log", passes=False)["log"].message)
        found, _ = operate("consumer_history", model="log")
        assert [row["action"] for row in found["history"]][-1] == "consume"
        assert [row["target_version"] for row in found["history"]][-1] == 0
